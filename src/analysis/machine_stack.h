// Where the time of all CPUs went: is it my code, the collector, the compiler, somebody else, or the hypervisor? What
// is known as a speedup stack: the parts lie on one another and reach up to the number of CPUs.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "analysis/model.h"
#include "analysis/selection.h"

namespace tarsier::analysis {

struct MachinePart {
  std::string name;   // "application", "GC", ...
  std::string color;  // for pictures, #rrggbb
  Nanos time;
  double cpus = 0;  // on average
};

struct MachineStack {
  std::vector<MachinePart> parts;  // in the order of the stack; those of 0 as well
  Nanos whole;                     // their sum
  double cpus = 0;
  bool whole_machine = false;  // with other processes, idle time and what was stolen; else only this JVM's threads
};
MachineStack machine_stack(const Model& model);
// Likewise, of pieces of the recording one after the other; at most so many, each of at least a second or so.
struct MachinePiece {
  int64_t from_ns = 0, to_ns = 0;
  MachineStack stack;
};
std::vector<MachinePiece> machine_stack_over_time(const Model& model, size_t most);

// CPU time and resources of all threads of a kind.
struct KindSum {
  size_t threads = 0;
  Nanos cpu;
  Resources resources;
};
using KindSums = std::array<KindSum, static_cast<size_t>(ThreadKind::kJfr) + 1>;
KindSums sums_by_kind(const Model& model);

// What threads lost, most first; those that lost nothing only if they used CPU time.
struct StealRow {
  ThreadIndex thread;
  Nanos cpu, steal;
  Nanos corrected;  // what it has used in truth
};
std::vector<StealRow> steal_profile(const Model& model, const Selection& selection);

// "pool-1-thread-*" for pool-1-thread-7; empty if the name has no number at its end.
std::string pool_of_thread(std::string_view name);

}  // namespace tarsier::analysis
