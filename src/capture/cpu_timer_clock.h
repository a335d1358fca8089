// A POSIX timer on the CPU clock of each thread: needs no permission, but ticks only with the kernel's own tick.
#pragma once

#include "capture/clock.h"

namespace tarsier::capture {

class CpuTimerClock final : public Clock {
 public:
  CpuTimerClock(int signal, uint64_t interval_ns) noexcept;

  int start(pid_t tid, ThreadClock& thread) noexcept override;
  void stop(ThreadClock& thread) noexcept override;
  [[nodiscard]] bool owns(const ThreadClock& thread, const siginfo_t& info) const noexcept override;
  uint64_t weight_ns(ThreadClock& thread, const siginfo_t& info) noexcept override;
  uint32_t kernel_frames(ThreadClock&, uint64_t*) noexcept override { return 0; }
  void rearm(ThreadClock&) noexcept override {}

 private:
  const int signal_;
  const uint64_t interval_ns_;
  const uint64_t most_timers_;  // the rest is left to the application
  uint64_t timers_ = 0;
};

}  // namespace tarsier::capture
