// The rows of a comparison, made of the nodes of a joint tree: methods by what they spend themselves or with all they
// call, or single calling contexts.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/block_variance.h"
#include "analysis/joint_tree.h"

namespace tarsier::analysis {

enum class RowsBy : uint8_t {
  kSelf,     // a row is a method (a label of the tree); what was spent in it itself
  kTotal,    // a row is a method; with all that it calls, however often it is on a stack counted once
  kContext,  // a row is a context (a node of the tree); what was spent in it itself
};

class ContextRows {
 public:
  ContextRows(const JointTree& tree, RowsBy by);

  [[nodiscard]] size_t size() const { return by_ == RowsBy::kContext ? tree_.nodes.size() : tree_.labels.size(); }
  // From what each node has of itself to what each row has.
  [[nodiscard]] std::vector<double> sums(std::vector<double> of_nodes) const;

 private:
  const JointTree& tree_;
  RowsBy by_;
  std::vector<bool> outermost_;  // of kTotal: by node, the method is not among its own callers
};

// What a recording has of each row.
struct RowWeights {
  std::vector<double> weight;   // by row
  std::vector<double> squares;  // sum of the squares of the samples' weights
  std::vector<double> samples;
};
RowWeights weigh_rows(const Model& model, const JointTree& tree, size_t recording, const ContextRows& rows);

// Cuts a recording into slices, by one of two clocks: equal parts of the time on the wall, or of all that was sampled,
// the program's own clock, which stands still while others have the CPUs.
enum class SliceClock : uint8_t { kWall, kSamples };
class TimeSlices {
 public:
  TimeSlices(const Model& model, SliceClock clock);
  [[nodiscard]] size_t of(const Sample& sample) const;

 private:
  std::array<int64_t, kSlices - 1> ends_{};  // of all slices but the last; what lies at an end is in the next one
};

// The same as weigh_rows() of some rows, in the order given, by slices.
std::vector<Slices> slice_rows(const Model& model, const JointTree& tree, size_t recording, const ContextRows& rows,
                               std::span<const uint32_t> wanted, const TimeSlices& slices);
// Of all samples together.
Slices slice_all(const Model& model, const TimeSlices& slices);

}  // namespace tarsier::analysis
