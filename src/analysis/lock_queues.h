// Those who queue up for a lock: how many at once, and whether they ever get out of each other's way.
#pragma once

#include <cstdint>
#include <span>

#include "analysis/blocked_times.h"

namespace tarsier::analysis {

// A convoy: the queue does not empty while the lock is handed over so many times. Whoever has had it, and wants it
// again, finds the others still there.
constexpr uint64_t kManyHandOvers = 30;

struct LockQueue {
  int64_t busy_ns = 0;    // somebody was queued
  int64_t queued_ns = 0;  // the sum over all who were
  uint32_t most = 0;      // at once

  uint64_t convoys = 0;
  int64_t convoy_ns = 0;
  struct Convoy {
    int64_t begin_ns = 0;
    int64_t end_ns = 0;
    uint64_t hand_overs = 0;
  } longest{};  // by hand-overs

  [[nodiscard]] double mean() const {
    return busy_ns > 0 ? static_cast<double>(queued_ns) / static_cast<double>(busy_ns) : 0;
  }
};

// Of one lock, in the order of time.
LockQueue lock_queue(std::span<const BlockedSpan> blocked);

}  // namespace tarsier::analysis
