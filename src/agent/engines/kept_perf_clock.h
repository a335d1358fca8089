// perf's clock, with a thread of ours that keeps the threads which give their CPU away all the time
// (capture/restless_thread.h): it reads their CPU clocks, and asks for one tick of those that have used up their
// interval.
//
// Whether such a thread runs or sleeps at that moment does not matter, since its event counts only what it runs. There
// is no thread of ours as long as nobody is restless.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "agent/engines/clock_thread.h"
#include "agent/engines/cpu_rounds.h"
#include "capture/perf_clock.h"

namespace tarsier::agent {

class KeptPerfClock final : public capture::Clock {
 public:
  explicit KeptPerfClock(const capture::PerfClock::Options& options);

  void close() noexcept override;
  int start(pid_t tid, capture::ThreadClock& thread) noexcept override { return clock_.start(tid, thread); }
  void stop(capture::ThreadClock& thread) noexcept override;
  void quieten(capture::ThreadClock& thread) noexcept override;
  void tend() noexcept override;
  [[nodiscard]] int64_t restless() const noexcept override { return taken_.load(std::memory_order_relaxed); }

  [[nodiscard]] bool owns(const capture::ThreadClock& thread, const siginfo_t& info) const noexcept override {
    return clock_.owns(thread, info);
  }
  uint64_t weight_ns(capture::ThreadClock& thread, const siginfo_t& info) noexcept override {
    return clock_.weight_ns(thread, info);
  }
  uint32_t kernel_frames(capture::ThreadClock& thread, uint64_t* out) noexcept override {
    return clock_.kernel_frames(thread, out);
  }
  void rearm(capture::ThreadClock& thread) noexcept override { clock_.rearm(thread); }

 private:
  struct Kept {
    capture::ThreadClock* clock = nullptr;
    Nanos armed_at;  // its CPU clock then
  };
  void take_in();
  void take_in_locked();
  void let_go(capture::ThreadClock& thread);
  static void* run(void* self);
  void keep();
  void round();
  bool look_at(Kept& kept, Nanos cpu, bool ran);
  // is(const Kept&)
  template <class Is>
  void remove_if(Is&& is);

  capture::PerfClock clock_;
  const Nanos interval_;
  CpuRounds<Kept> threads_;
  std::atomic<int> kept_{0};  // of threads_
  std::atomic<int64_t> taken_{0};

  std::mutex taking_;
  capture::ThreadClock* waiting_ = nullptr;  // taken from the list of those who ask, and not yet into threads_

  // Of whoever makes the rounds.
  int armed_ = 0;         // in this one
  bool leaving_ = false;  // somebody wants to go

  bool has_thread_ = false;  // that does so
  std::mutex sleeping_;
  std::condition_variable wake_;
  bool closing_ = false;
  ClockThread thread_;  // the last: it works with all of the above
};

}  // namespace tarsier::agent
