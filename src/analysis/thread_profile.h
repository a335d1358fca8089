// Who used the CPU: one row per thread.
#pragma once

#include <vector>

#include "analysis/selection.h"

namespace tarsier::analysis {

struct ThreadRow {
  ThreadIndex thread;
  Nanos cpu;              // by the kernel's account, else what its samples stand for
  bool measured = false;  // by the kernel
  Nanos sampled;          // what its samples stand for
  uint64_t samples = 0;
};

// Threads that used CPU time, most first. Within a part of the recording's time only samples tell.
std::vector<ThreadRow> thread_profile(const Model& model, const Selection& selection);

}  // namespace tarsier::analysis
