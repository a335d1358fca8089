// perf's clock, with a thread of ours that keeps the threads which give their CPU away all the time
// (capture/restless_thread.h): it reads their CPU clocks, and switches an event on shortly before the moment, in CPU
// time, of the next sample. The event itself then ticks at that moment, so it does not matter when we look, as long as
// the thread does not use more between two looks than is foreseen: what it has used lately, and a half.
//
// There is no thread of ours as long as nobody is restless.
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
  ~KeptPerfClock() override { close(); }

  void close() noexcept override;
  int start(pid_t tid, capture::ThreadClock& thread) noexcept override { return clock_.start(tid, thread); }
  void stop(capture::ThreadClock& thread) noexcept override;
  void quieten(capture::ThreadClock& thread) noexcept override;
  void tend() noexcept override;
  // Late: since a thread used more than was foreseen.
  [[nodiscard]] Restless restless() const noexcept override {
    return {taken_.load(std::memory_order_relaxed), late_.load(std::memory_order_relaxed)};
  }

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
    Nanos seen;       // its CPU clock at the last look
    Nanos at_a_time;  // what it uses between two looks: the most lately, forgotten slowly
    Nanos armed_for;  // its CPU clock at the tick that was asked for
  };
  // Some of those who ask; false: there were no more.
  bool take_in();
  void gather();
  void let_go(capture::ThreadClock& thread);
  static void* run(void* self);
  void keep();
  void round();
  bool look_at(Kept& kept, Nanos cpu);
  // is(const Kept&)
  template <class Is>
  void remove_if(Is&& is);

  capture::PerfClock clock_;
  const Nanos interval_, usual_period_;
  CpuRounds<Kept> threads_;
  std::atomic<int> kept_{0};  // of threads_
  std::atomic<int64_t> taken_{0};

  std::mutex taking_;
  capture::ThreadClock* waiting_ = nullptr;  // taken from the list of those who ask, and not yet into threads_

  // Of whoever makes the rounds.
  Nanos period_;              // from the last round to this one
  bool anybody_ran_ = false;  // since the last one
  bool leaving_ = false;      // somebody wants to go
  uint64_t random_ = 0x9E3779B97F4A7C15ULL;
  std::atomic<int64_t> late_{0};

  bool has_thread_ = false;  // that does so
  std::mutex sleeping_;
  std::condition_variable wake_;
  bool closing_ = false;
  ClockThread thread_;  // the last: it works with all of the above
};

}  // namespace tarsier::agent
