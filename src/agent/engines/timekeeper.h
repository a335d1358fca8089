// Fine intervals without perf: a thread of ours wakes by a high-resolution clock, reads the CPU clocks of the Java
// threads and signals just those that have used up their interval and are running.
#pragma once

#include "agent/engines/clock_thread.h"
#include "agent/engines/cpu_rounds.h"
#include "base/units.h"
#include "capture/signalled_clock.h"

namespace tarsier::agent {

class Timekeeper final : public capture::SignalledClock {
 public:
  // A thread on a CPU gets a signal within microseconds, or, if it was us who took its CPU, when our tick is over.
  Timekeeper(int signal, Nanos interval)
      : SignalledClock({.prompt_ns = 200'000}), signal_(signal), interval_(interval) {}

  int open(capture::Repeats&) noexcept override;
  void close() noexcept override { thread_.stop(); }
  int start(pid_t tid, capture::ThreadClock& thread) noexcept override;
  void stop(capture::ThreadClock& thread) noexcept override;

 private:
  struct Kept {
    capture::ThreadClock* clock = nullptr;
    Nanos sampled;    // CPU time at the last sample
    int skipped = 0;  // ticks in a row
  };
  static void* run(void* self);
  void keep_time();
  // False if the thread has not run since the last look.
  bool look_at(Kept& kept, pid_t tid, Nanos cpu, bool ran);

  const int signal_;
  const Nanos interval_;
  bool on_time_ = true;  // this tick
  CpuRounds<Kept> threads_;
  ClockThread thread_;  // the last: it works with all of the above
};

}  // namespace tarsier::agent
