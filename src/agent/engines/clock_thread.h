// What clocks that are a thread of ours have in common.
#pragma once

#include <pthread.h>

#include "base/units.h"

namespace tarsier::agent {

// All signals blocked, as for the session's own thread. 0, or an errno.
int start_clock_thread(pthread_t& thread, void* (*run)(void*), void* self) noexcept;

// Ticks at random between half and one and a half of the interval, by the high-resolution clock.
class RandomTicks {
 public:
  explicit RandomTicks(Nanos interval);
  // Until the next tick; the time then. Late by more than a tick: what was missed is missed.
  Nanos wait();
  // How late the last one was.
  [[nodiscard]] Nanos lateness() const { return lateness_; }

 private:
  const Nanos interval_;
  Nanos next_, lateness_;
  uint64_t random_;
};

}  // namespace tarsier::agent
