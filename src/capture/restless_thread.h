// A thread that gives its CPU away all the time: perf sets up and takes down the timer of a running event at every
// switch of threads (2.4 us on a virtual machine with x86_64, where an event that is off takes 0.2), so a thread that
// runs for 10 us at a time would pay a quarter of its time for being sampled once in a millisecond. The event of such a
// thread is off, and a thread of ours switches it on shortly before the moment, in CPU time, of the next sample.
#pragma once

#include <atomic>
#include <cstdint>

namespace tarsier::capture {

struct ThreadClock;

enum class Pace : uint8_t {
  kSteady,   // its event runs all the time
  kAsked,    // likewise: it is in the list of those for whom a keeper is wanted
  kKept,     // from its next tick on its event is off, and the keeper switches it on when its time has come
  kLeaving,  // it runs by itself again, which the keeper has yet to notice
};

struct RestlessThread {
  static constexpr uint64_t kNever = UINT64_MAX;

  std::atomic<Pace> pace{Pace::kSteady};
  ThreadClock* next = nullptr;               // in that list
  std::atomic<bool> armed{false};            // its event is on, or was, and its tick has not been handled yet
  std::atomic<uint64_t> due_cpu_ns{kNever};  // when its CPU clock is to be there, the next sample is to be taken

  // The rest is the handler's.
  bool has_asked = false;        // ever: the keeper may know it
  bool spared = false;           // the event is off but for single ticks
  uint32_t samples = 0;          // since its switches were counted
  uint64_t sampled_cpu_ns = 0;   // its CPU clock at the last sample
  uint64_t owed_ns = 0;          // what its batches did not see, and no sample stands for yet
  uint64_t switches = 0;         // when they were counted last,
  uint64_t switches_cpu_ns = 0;  // and its CPU clock then
};

}  // namespace tarsier::capture
