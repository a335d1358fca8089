// What the handler does for clocks that are a thread of ours: it signals a thread after it has written down how much
// time the sample stands for.
#pragma once

#include <time.h>
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
  // No, if the thread was not on a CPU when it was asked, and so the signal came late: the thread is then where it was
  // preempted, and programs are preempted at some places more often than at others, first of all in system calls. Where
  // all is slow (an emulator, a debugger) a late sample is better than none.
  [[nodiscard]] bool wants(ThreadClock& thread) noexcept final {
    constexpr uint32_t kMaxLate = 4;
    if (options_.prompt_ns == 0) return true;
    const uint64_t delay = now_ns(CLOCK_MONOTONIC) - thread.asked_ns.load(std::memory_order_relaxed);
    if (delay > options_.prompt_ns && thread.late.fetch_add(1, std::memory_order_relaxed) + 1 < kMaxLate) return false;
    thread.late.store(0, std::memory_order_relaxed);
    return true;
  }
  // Taken, not read: a signal that came twice stands for nothing the second time.
  uint64_t weight_ns(ThreadClock& thread, const siginfo_t&) noexcept final {
    return thread.due_ns.exchange(0, std::memory_order_relaxed);
  }
  uint32_t kernel_frames(ThreadClock&, uint64_t*) noexcept final { return 0; }
  void rest(ThreadClock& thread, uint64_t sp) noexcept final {
    if (!options_.notes_rest) return;
    thread.rested_cpu_ns.store(now_ns(CLOCK_THREAD_CPUTIME_ID), std::memory_order_relaxed);
    thread.rested_sp.store(sp, std::memory_order_relaxed);  // rearm() publishes both
  }
  // Also after a signal that was not ours: it may have swallowed one that was.
  void rearm(ThreadClock& thread) noexcept final { thread.asked.store(false, std::memory_order_release); }

 protected:
  struct Options {
    uint64_t prompt_ns = 0;   // a signal that takes longer came late; 0: none does
    bool notes_rest = false;  // where the thread rests after a sample is of interest
  };
  explicit SignalledClock(Options options) noexcept : options_(options) {}
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }

 private:
  static uint64_t now_ns(clockid_t clock) noexcept {
    timespec t;
    ::clock_gettime(clock, &t);
    return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_nsec);
  }

  const Options options_;
  const pid_t pid_ = ::getpid();
};

}  // namespace tarsier::capture
