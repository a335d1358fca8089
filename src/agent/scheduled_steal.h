// Who suffered from what the hypervisor took, where it is known who was on which CPU: what each CPU lost, split over
// those that were on it meanwhile, in proportion to the time that they were there. Pure arithmetic.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/units.h"

namespace tarsier::agent {

// All times are cumulative, and on the wall: what was stolen is part of them, on every kernel.
struct ThreadTurns {
  pid_t tid;
  uint32_t cpu;
  Nanos ran;
};
struct CpuTurns {
  Nanos at;
  std::vector<Nanos> busy;  // by CPU: somebody was on it
  std::vector<ThreadTurns> threads;
};

class ScheduledSteal {
 public:
  // What came before does not count.
  ScheduledSteal(const CpuTurns& first, std::span<const Nanos> stolen);

  // `stolen`: by CPU. What each thread of the process has lost since the last time is added to `lost`. Clocks that go
  // backwards stand still.
  void settle(const CpuTurns& now, std::span<const Nanos> stolen, std::unordered_map<pid_t, Nanos>& lost);
  // Of threads that have ended: their numbers may come again.
  void forget_all_but(const std::unordered_set<pid_t>& tids);

 private:
  static uint64_t key_of(const ThreadTurns& turns);

  Nanos at_;
  std::vector<Nanos> busy_, stolen_;  // by CPU, that are settled
  std::unordered_map<uint64_t, Nanos> ran_;
};

}  // namespace tarsier::agent
