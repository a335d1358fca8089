// What the parts of LockCapture share: what a thread keeps of its own.
#pragma once

#include <algorithm>

#include "agent/engines/lock_capture.h"
#include "base/clock.h"

namespace tarsier::agent {

inline uint64_t lock_time_ns() noexcept {
  return static_cast<uint64_t>(monotonic_now().count);
}

// Names of locks that are known at a time; a power of two.
constexpr uint32_t kMostNames = 1 << 14;

// The key of an object in the set of known names if nothing is known of it but its hash.
inline uint64_t hash_alone(int32_t identity) noexcept {
  return static_cast<uint32_t>(identity);
}

// Of an earlier session if the numbers differ. Small: the linker has little room for variables of threads that are
// found without a search (512 bytes, for all libraries that a running program loads).
struct LockCapture::Local {
  uint64_t session;
  LockThread* thread;
  EventBlocks::Block* block;
  capture::ContendedMonitor* entering;  // the monitor that it is blocked by
  uint64_t monitor, generation;
  capture::ContendedMonitor* waiting;  // the one that it waits for in Object.wait
  uint32_t waited;                     // the number of that object's name
  uint64_t wait_began_ns;
  uint32_t notified_before;  // threads, when it began to wait
  bool was_notified;
  uint32_t calls;
  // Its last release that was recorded, of a monitor that others are blocked by.
  struct {
    uint64_t generation, time_ns, order;
  } released;
};

// What a call of ours takes, of some calls. On a busy machine a thread may lose its CPU meanwhile, and that is not our
// cost: so it is never more than the thread's CPU time says. That clock is a system call, which takes about as long as
// a call of ours, so it is read around the other one, which tells what short calls take.
class LockCapture::Stopwatch {
 public:
  explicit Stopwatch(Local& local) noexcept
      : local_(local),
        cpu_began_(local.calls++ % kMeasureOneIn == 0 ? cpu_time_ns() : 0),
        began_(cpu_began_ != 0 ? lock_time_ns() : 0) {}
  ~Stopwatch() {
    if (began_ == 0) return;
    const uint64_t passed = lock_time_ns() - began_;
    LockCounters& counters = local_.thread->counters;
    counters.add_alone(LockCount::kMeasured);
    counters.add_alone(LockCount::kMeasuredNs, std::min(passed, cpu_time_ns() - cpu_began_));
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  static constexpr uint32_t kMeasureOneIn = 256;
  static uint64_t cpu_time_ns() noexcept { return static_cast<uint64_t>(clock_now(CLOCK_THREAD_CPUTIME_ID).count); }
  Local& local_;
  const uint64_t cpu_began_, began_;
};

}  // namespace tarsier::agent
