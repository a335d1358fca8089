// A clock decides when a thread is sampled: it sends our signal to a thread that has used up its interval, of CPU time
// or, for clocks on the wall, of time.
// One clock serves all threads; what it keeps for each of them is a ThreadClock.
#pragma once

#include <signal.h>
#include <sys/types.h>
#include <time.h>

#include <atomic>
#include <cstdint>

#include "base/sigsafe/random_period.h"
#include "capture/restless_thread.h"

namespace tarsier::capture {

// The state of one thread's clock. Touched by the thread's own handler and, while no handler of it can run, by whoever
// starts or stops it.
struct ThreadClock {
  uint32_t serial = 0;  // the thread's, in records
  int fd = -1;
  void* ring = nullptr;
  timer_t timer = nullptr;
  bool has_timer = false;
  bool by_spare = false;              // kept by the clock behind the clock
  pid_t tid = 0;                      // of clocks that somebody else looks at
  uint64_t period_ns = 0;             // what the next tick stands for
  uint64_t random = 0;                // state of the generator that draws the periods
  uint32_t batch = 0;                 // ticks in the present batch
  uint32_t batch_left = 0;            // ticks with the same period
  uint64_t batch_began_ns = 0;        // its CPU time when that period was drawn
  uint64_t batch_ns = 0;              // what the clock counts while they come
  uint64_t cpu_per_mille = 1000;      // CPU time of the last batch, of what the clock has counted
  bool one_shot = false;              // no tick while a handler runs
  bool hung_up = false;               // the last tick was the last that the event was told to give
  std::atomic<uint64_t> due_ns{0};    // time that a thread of ours saw it use and that no sample stands for yet
  std::atomic<bool> asked{false};     // the thread of ours has sent a signal that has not arrived yet
  std::atomic<uint64_t> asked_ns{0};  // when; CLOCK_MONOTONIC
  std::atomic<uint32_t> late{0};      // signals in a row that came too late to be a sample
  std::atomic<bool> waits{false};     // it was waiting when it was asked
  // At the end of the last sample: its CPU clock and its stack pointer.
  std::atomic<uint64_t> rested_cpu_ns{0}, rested_sp{0};
  RestlessThread restless;
};

constexpr uint32_t kMaxKernelFrames = 64;

// Takes samples of threads that need not be interrupted, since they have not moved since their last sample.
class Repeats {
 public:
  virtual void repeat(const ThreadClock& thread, uint64_t now_ns, uint64_t weight_ns) noexcept = 0;

 protected:
  ~Repeats() = default;
};

class Clock {
 public:
  virtual ~Clock() = default;

  // For all threads at once, before the first start() and after the last stop(). 0, or an errno.
  virtual int open(Repeats&) noexcept { return 0; }
  virtual void close() noexcept {}

  // Starts the clock of thread `tid` (of this process). 0, or an errno. Ticks may arrive before it returns.
  virtual int start(pid_t tid, ThreadClock& thread) noexcept = 0;
  virtual void stop(ThreadClock& thread) noexcept = 0;
  // By our own thread, every now and then.
  virtual void tend() noexcept {}
  // Of threads that are looked after one by one, since they give their CPU away all the time, so far.
  struct Restless {
    int64_t threads = 0;
    int64_t late = 0;  // samples that were taken later than they should
  };
  [[nodiscard]] virtual Restless restless() const noexcept { return {}; }
  // Before stop(), by the very thread, while its handler still knows it: ticks that would come while the clock is taken
  // down had nobody to take their samples.
  virtual void quieten(ThreadClock&) noexcept {}

  // The rest runs in the handler.
  // Did this signal come from the thread's clock, and not from somebody's kill()?
  [[nodiscard]] virtual bool owns(const ThreadClock& thread, const siginfo_t& info) const noexcept = 0;
  // Is it worth a sample? If not, the time that it stands for is that of a later one.
  [[nodiscard]] virtual bool wants(ThreadClock&) noexcept { return true; }
  // Time that this tick stands for: CPU time, but for clocks on the wall.
  virtual uint64_t weight_ns(ThreadClock& thread, const siginfo_t& info) noexcept = 0;
  // Kernel frames of the interrupted system call or fault, innermost first; at most kMaxKernelFrames.
  virtual uint32_t kernel_frames(ThreadClock& thread, uint64_t* out) noexcept = 0;
  // The sample is taken; the thread goes on with this stack pointer. 0: it was dropped.
  virtual void rest(ThreadClock&, uint64_t /*sp*/) noexcept {}
  // The next tick may come from now on.
  virtual void rearm(ThreadClock& thread) noexcept = 0;
};

using tarsier::draw_period;
using tarsier::draw_phase;
using tarsier::next_random;

}  // namespace tarsier::capture
