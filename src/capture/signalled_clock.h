// What the handler does for clocks that are a thread of ours: it signals a thread after it has written down how much
// time the sample stands for.
#pragma once

#include <unistd.h>

#include "capture/clock.h"

namespace tarsier::capture {

class SignalledClock : public Clock {
 public:
  [[nodiscard]] bool owns(const ThreadClock& thread, const siginfo_t& info) const noexcept final {
    if (info.si_code == SI_TKILL) return info.si_pid == pid_;
    // When the user's queue of pending signals is full, the kernel delivers the signal without saying whose it is.
    return info.si_code == SI_USER && info.si_pid == 0 && thread.due_ns.load(std::memory_order_relaxed) > 0;
  }
  // Taken, not read: a signal that came twice stands for nothing the second time.
  uint64_t weight_ns(ThreadClock& thread, const siginfo_t&) noexcept final {
    return thread.due_ns.exchange(0, std::memory_order_relaxed);
  }
  uint32_t kernel_frames(ThreadClock&, uint64_t*) noexcept final { return 0; }
  // Also after a signal that was not ours: it may have swallowed one that was.
  void rearm(ThreadClock& thread) noexcept final { thread.asked.store(false, std::memory_order_release); }

 protected:
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }

 private:
  const pid_t pid_ = ::getpid();
};

}  // namespace tarsier::capture
