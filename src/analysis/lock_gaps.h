// What is missing or wrong in the lock events of a recording, by their numbers, which are given out without gaps.
#pragma once

#include <cstdint>

#include "analysis/lock_events.h"

namespace tarsier::analysis {

struct LockGaps {
  uint64_t numbered = 0;       // numbers that are there
  uint64_t missing = 0;        // that are not: events that are not in the file (of parks: that were, and are gone)
  uint64_t duplicates = 0;     // that are there more than once
  uint64_t out_of_order = 0;   // of a monitor: later by number, earlier by time
  uint64_t out_of_bounds = 0;  // so far from all others that it is damage
  bool checked = true;         // false: too many events to keep them

  [[nodiscard]] bool any() const { return missing + duplicates + out_of_order + out_of_bounds > 0; }
};

LockGaps lock_gaps(const LockEvents& events);

}  // namespace tarsier::analysis
