// What got slower or faster from one recording to another, and which of it is more than noise.
//
// The variance of what a recording has of a row is taken from the recording itself: from how its slices of time differ
// (block_variance.h), and at least that of counting independent samples (Poisson: the sum of their squared weights).
// The difference of two recordings, less what is tolerated, over its standard error is compared with Student's t
// distribution. Many rows are tested at once, so what would be rare for one row happens: the p values are corrected by
// Benjamini and Hochberg's procedure, which bounds the share of false alarms among all that is called a change. (Their
// procedure, not Bonferroni's: who reads a list of ten changes can live with one in a hundred lists having a false one
// too many, but not with half of the true ones missing; and if nothing has changed at all, both are equally strict.)
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/context_rows.h"
#include "analysis/joint_tree.h"

namespace tarsier::analysis {

enum class Per : uint8_t {
  kSecond,  // CPU time per second on the wall: for windows into programs that go on. Slices of wall time
  kRun,     // CPU time of the whole recording: for runs that do the same work. Slices of the program's own time
  kShare,   // share of all CPU time: how it is composed, whoever else uses the machine. Slices as of runs
};

constexpr RowsBy kRows[] = {RowsBy::kSelf, RowsBy::kTotal, RowsBy::kContext};
constexpr Per kScales[] = {Per::kSecond, Per::kRun, Per::kShare};
std::string_view name_of(RowsBy by);  // self total context
std::string_view name_of(Per per);    // second run share
// The one of that name; the first if there is none.
template <class Enum, size_t n>
Enum value_named(std::string_view name, const Enum (&values)[n]) {
  for (const Enum value : values) {
    if (name_of(value) == name) return value;
  }
  return values[0];
}

struct ChangeOptions {
  RowsBy by = RowsBy::kSelf;
  Per per = Per::kSecond;
  // Two runs of the same program differ by some per cent for reasons that no recording shows (what the compilers
  // decided, where memory lies, who else used the caches). A change of a row has to be larger than this share of it.
  double tolerance = 0.05;
  // Both are runs of one job and go through the same phases: those come again and are no noise. Not so by default,
  // since the most common phase, warming up, is as long as chance and the machine's load let the compilers take.
  bool same_phases = false;
  double false_alarms = 0.01;  // the share of them that may be among what is called a change
};

struct Change {
  uint32_t row = 0;              // a label or a node of the tree
  double before = 0, after = 0;  // ns (or bytes), ns per second, or a share
  double error = 0;              // standard error of after - before
  double half_ci95 = 0;          // after - before is known to plus and minus this
  uint64_t samples_before = 0, samples_after = 0;
  bool tested = false;  // there were samples enough
  double p = 1;         // corrected for the number of rows
  bool significant = false;

  [[nodiscard]] double difference() const { return after - before; }
};

// What a row is called: the method, or the innermost one of the context.
const std::string& row_name(const JointTree& tree, RowsBy by, uint32_t row);

// Rows with fewer samples than that, in both recordings together, are not tested: whatever they do could be chance, and
// each test makes the others weaker.
constexpr double kFewestSamples = 20;

struct Changes {
  Change whole;              // of all samples together, tested alone; of shares: 1 and 1
  std::vector<Change> rows;  // significant ones first, then those tested; by falling difference. None without samples
  size_t tested = 0;
  size_t significant = 0;
};

// From the first to the second of the two recordings of the tree. Both must be fit for that: see check_comparable().
Changes find_changes(const Model& before, const Model& after, const JointTree& tree, const ChangeOptions& options);

// Corrects p values for how many they are: those that come out at most q have a share of at most q of false alarms.
std::vector<double> corrected_for_number(const std::vector<double>& p_values);

}  // namespace tarsier::analysis
