// The timers of classic profilers, one for the whole process: the kernel picks the thread that gets the signal. Kept as
// baselines to measure against: ITIMER_PROF ticks with CPU time, ITIMER_REAL with real time and hits whoever is there.
#pragma once

#include <sys/time.h>

#include "capture/clock.h"

namespace tarsier::capture {

class ProcessTimerClock final : public Clock {
 public:
  ProcessTimerClock(__itimer_which which, uint64_t interval_ns) noexcept : which_(which), interval_ns_(interval_ns) {}

  int open(Repeats&) noexcept override { return set(interval_ns_); }
  void close() noexcept override { set(0); }
  int start(pid_t, ThreadClock&) noexcept override { return 0; }
  void stop(ThreadClock&) noexcept override {}
  [[nodiscard]] bool owns(const ThreadClock&, const siginfo_t& info) const noexcept override {
    return info.si_code == SI_KERNEL;
  }
  uint64_t weight_ns(ThreadClock&, const siginfo_t&) noexcept override { return interval_ns_; }
  uint32_t kernel_frames(ThreadClock&, uint64_t*) noexcept override { return 0; }
  void rearm(ThreadClock&) noexcept override {}

 private:
  int set(uint64_t interval_ns) noexcept;

  const __itimer_which which_;
  const uint64_t interval_ns_;
};

}  // namespace tarsier::capture
