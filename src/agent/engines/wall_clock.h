// Samples on the wall: a thread of ours visits every Java thread in turn, running or waiting, and signals it, a bounded
// number of them at each tick. One that has not run since its last sample still has the same stack: it is left asleep,
// and its time is added up and reported as a repetition about once a second.
#pragma once

#include <mutex>
#include <vector>

#include "agent/engines/clock_thread.h"
#include "base/units.h"
#include "capture/signalled_clock.h"

namespace tarsier::agent {

class WallClock final : public capture::SignalledClock {
 public:
  // Every thread is visited once in an interval if they are not too many.
  WallClock(int signal, Nanos interval) : SignalledClock({.notes_rest = true}), signal_(signal), interval_(interval) {}

  int open(capture::Repeats& repeats) noexcept override;
  void close() noexcept override { thread_.stop(); }
  int start(pid_t tid, capture::ThreadClock& thread) noexcept override;
  void stop(capture::ThreadClock& thread) noexcept override;

 private:
  struct Entry {
    pid_t tid = 0;
    capture::ThreadClock* clock = nullptr;
    Nanos visited;         // until then its time is accounted for
    Nanos still;           // time that it spent asleep in its last stack, not yet reported
    Nanos cpu;             // its CPU clock when it was found to be asleep in its last stack
    bool sampled = false;  // at all
    bool asleep = false;   // in the stack of its last sample
  };
  static void* run(void* self);
  void keep_time();
  void tick(Nanos now);
  // True if it was signalled.
  bool visit(Entry& entry, Nanos now);
  bool has_not_moved(Entry& entry, Nanos cpu) const;
  void report_still(Entry& entry, Nanos now);

  const int signal_;
  const Nanos interval_;
  capture::Repeats* repeats_ = nullptr;
  std::mutex lock_;
  std::vector<Entry> entries_;
  size_t next_ = 0;     // whose turn it is
  ClockThread thread_;  // the last: it works with all of the above
};

}  // namespace tarsier::agent
