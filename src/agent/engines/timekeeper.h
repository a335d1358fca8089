// Fine intervals without perf: a thread of ours wakes by a high-resolution clock, reads the CPU clocks of the Java
// threads and signals just those that have used up their interval and are running.
#pragma once

#include <atomic>
#include <deque>
#include <mutex>
#include <vector>

#include "agent/engines/clock_thread.h"
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
  struct Entry {
    pid_t tid = 0;
    capture::ThreadClock* clock = nullptr;
    Nanos seen, sampled;  // CPU time at the last look, and at the last sample
    int idle_looks = 0;
    int skipped = 0;  // ticks in a row
  };
  // Holds the lock for a thread that starts or ends, after it has made known that it waits for it.
  class Waiting {
   public:
    explicit Waiting(Timekeeper& keeper) : keeper_(keeper) {
      keeper.waiting_.fetch_add(1, std::memory_order_relaxed);
      keeper.lock_.lock();
      keeper.waiting_.fetch_sub(1, std::memory_order_relaxed);
    }
    ~Waiting() { keeper_.lock_.unlock(); }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

   private:
    Timekeeper& keeper_;
  };
  static void* run(void* self);
  void keep_time();
  // One tick: every thread that ran lately, and a few of the others.
  void tick();
  bool look_at_active(size_t& i);  // a batch from the i-th on; false after the last
  void look_at_idle();
  void let_others_in();
  // False if the thread has not run since the last look.
  bool look_at(Entry& entry);

  const int signal_;
  const Nanos interval_;
  bool on_time_ = true;  // this tick
  std::mutex lock_;
  std::atomic<int> waiting_{0};
  std::vector<Entry> active_;
  std::deque<Entry> idle_;  // asked in turn
  ClockThread thread_;      // the last: it works with all of the above
};

}  // namespace tarsier::agent
