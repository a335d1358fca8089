// What clocks that are a thread of ours, and others that watch the time, have in common.
#pragma once

#include <pthread.h>

#include <atomic>
#include <new>

#include "base/units.h"

namespace tarsier::agent {

class ClockThread {
 public:
  ClockThread() = default;
  ClockThread(const ClockThread&) = delete;
  ClockThread& operator=(const ClockThread&) = delete;
  ~ClockThread() { stop(); }

  // All signals blocked, as for the session's own thread. 0, or an errno.
  int start(void* (*run)(void*), void* self, const char* name = "tarsier-clock") noexcept;
  // Returns when it has ended; nothing if it does not run.
  void stop() noexcept;
  // Asked by the thread itself, now and then.
  [[nodiscard]] bool must_stop() const noexcept { return must_stop_.load(); }

 private:
  std::atomic<bool> must_stop_{false};
  bool running_ = false;
  pthread_t thread_{};
};

// A round of a thread of ours may fail for want of memory; the next one has its turn all the same.
template <typename Round>
void survive(Round&& round) noexcept {
  try {
    round();
  } catch (const std::bad_alloc&) {
  }
}

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
