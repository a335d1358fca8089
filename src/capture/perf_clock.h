// perf's software cpu-clock: a high-resolution timer that runs only while its thread runs.
//
// An event ticks by itself, a batch of ticks with one period, which spares the handler most of its system calls; then
// another period is drawn. Where the handler can't keep up (an emulator, very short intervals), ticks that come while
// it runs coalesce and the batch takes longer than it should. Left alone the thread would do nothing but handle ticks,
// so the next batch is one-shot: the event sleeps from each tick until its handler is done.
//
// The event counts less than the CPU time of its thread: not the switches to and from it, which are much of that in
// threads that run for some microseconds at a time. After each batch it is known how much less, and the event is told
// to tick faster by so much.
//
// If somebody keeps them (agent/engines/kept_perf_clock.h), threads that give their CPU away all the time are spared:
// restless_thread.h, perf_clock_restless.cpp.
#pragma once

#include <atomic>
#include <cstddef>

#include "capture/clock.h"

namespace tarsier::capture {

class PerfClock final : public Clock {
 public:
  struct Options {
    int signal = 0;
    uint64_t interval_ns = 1'000'000;
    bool kernel = true;  // count and show time in the kernel too
  };
  // Below this the kernel rounds up.
  static constexpr uint64_t kFinest = 10'000;

  // Could an event be opened for a thread of ours? 0, or an errno. Nothing stays open.
  static int probe(bool kernel) noexcept;

  explicit PerfClock(const Options& options) noexcept;

  int start(pid_t tid, ThreadClock& thread) noexcept override;
  void stop(ThreadClock& thread) noexcept override;
  void quieten(ThreadClock& thread) noexcept override;
  [[nodiscard]] bool owns(const ThreadClock& thread, const siginfo_t& info) const noexcept override;
  uint64_t weight_ns(ThreadClock& thread, const siginfo_t& info) noexcept override;
  uint32_t kernel_frames(ThreadClock& thread, uint64_t* out) noexcept override;
  void rearm(ThreadClock& thread) noexcept override;

  // From now on restless threads are spared: somebody takes them, and switches their events on.
  void keep_restless() noexcept { keeps_restless_ = true; }
  // Those that have become so since the last call, linked by RestlessThread::next.
  ThreadClock* take_restless() noexcept { return asked_.exchange(nullptr, std::memory_order_acquire); }
  // One tick, when the thread has used so much more CPU time.
  static void arm(const ThreadClock& thread, uint64_t cpu_ns) noexcept;

 private:
  [[nodiscard]] size_t ring_bytes() const noexcept { return (1 + kRingPages) * page_size_; }

  void begin_batch(ThreadClock& thread) const noexcept;
  static void begin_with_one_tick(ThreadClock& thread) noexcept;
  static void go_on(const ThreadClock& thread) noexcept;

  // Of threads that are spared, or become so, or cease to be.
  void look_for_restlessness(ThreadClock& thread) noexcept;
  void ask_for_keeper(ThreadClock& thread) noexcept;
  static void owe(ThreadClock& thread, uint64_t cpu_ns, uint32_t ticks) noexcept;
  bool spare(ThreadClock& thread) const noexcept;
  void wait_for_keeper(ThreadClock& thread) const noexcept;
  [[nodiscard]] static uint64_t weight_of_spared(ThreadClock& thread) noexcept;
  void rearm_spared(ThreadClock& thread) noexcept;
  // CPU time between two switches, since the last call; 0: there were too few to tell.
  static uint64_t time_between_switches(RestlessThread& thread) noexcept;
  [[nodiscard]] uint64_t longest_restless_turn() const noexcept;
  void leave_keeper(ThreadClock& thread) const noexcept;

  // Of ticks: short at first, so that threads that live for some ticks are counted right, too.
  static constexpr uint32_t kFirstBatch = 8, kLargestBatch = 64;
  static constexpr uint64_t kPerMille = 1000;
  static constexpr size_t kRingPages = 1;  // of data: room for a few kernel stacks, and we read after each tick
  const Options options_;
  const size_t page_size_;
  const int highest_fd_, most_fds_;  // the rest is left to the application
  int fds_ = 0;
  bool keeps_restless_ = false;
  std::atomic<ThreadClock*> asked_{nullptr};
};

}  // namespace tarsier::capture
