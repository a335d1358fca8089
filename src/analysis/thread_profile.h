// Who used the CPU: one row per thread.
#pragma once

#include <vector>

#include "analysis/selection.h"

namespace tarsier::analysis {

struct ThreadRow {
  ThreadIndex thread;
  Nanos cpu;              // by the kernel's account, else what its CPU samples stand for; without what it carried
  bool measured = false;  // by the kernel
  int64_t sampled = 0;    // what its samples stand for, in the profile's unit
  uint64_t samples = 0;
};

// Threads that used CPU time, most first; in profiles of another kind those with samples, by their weight. Within a
// part of the recording's time only samples tell.
std::vector<ThreadRow> thread_profile(const Model& model, const Selection& selection);

}  // namespace tarsier::analysis
