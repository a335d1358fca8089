// Finds waits from outside, without any right: a thread of ours looks at every Java thread now and then. One whose CPU
// clock stands still sleeps where it slept; of one that has slept for longer than the threshold the stack is copied;
// and when it has run again the kernel's accounts tell how long the wait was.
//
// What it may cost is bounded: the more there is to look at, the longer between two looks. Threads that sleep for long
// are looked at in turn. What begins and ends between two looks is counted and summed, but has no stack.
#pragma once

#include <atomic>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

#include "agent/engines/clock_thread.h"
#include "agent/engines/sleeper_copy.h"
#include "agent/engines/wait_account.h"
#include "agent/engines/wait_finder.h"
#include "agent/engines/wait_records.h"
#include "agent/thread_registry.h"
#include "linux/thread_schedule.h"

namespace tarsier::agent {

class WaitWatcher final : public WaitFinder {
 public:
  // `virtual_threads` may be null; both must live as long.
  WaitWatcher(const WaitLimits& limits, const hotspot::ThreadFields& fields,
              const hotspot::VirtualThreadLayout* virtual_threads, size_t ring_bytes);
  ~WaitWatcher() override { stop(); }

  [[nodiscard]] bool has_memory() const { return records_.has_memory(); }

  Status start() override;
  void stop() noexcept override { thread_.stop(); }
  size_t consume(const Visit& visit, size_t at_most) override { return records_.consume(visit, at_most); }
  capture::JavaBottoms& bottoms() override { return records_.bottoms(); }
  bool close_one() override;
  std::vector<ThreadTimes> changed_times() override;
  void add_to(EngineStats& stats) override;

  bool thread_started(const JavaThread& thread) override;
  void thread_ended(const JavaThread& thread) override;  // by the very thread

 private:
  struct Entry {
    Sleeper sleeper;
    WaitAccount account;
    Nanos cpu;            // its clock when it was last looked at
    Nanos seen;           // and when that was
    int still = 0;        // looks in a row at which it had not run
    bool copied = false;  // the stack of the open wait is in the ring
    bool changed = true;  // something to tell
  };
  enum class Asked : uint8_t { kAsleep, kHasRun, kGone };

  static void* run(void* self);
  void watch();
  void look_at_fresh();
  void look_at_active();
  void look_at_resting(Nanos budget);
  Asked look_at(Entry& entry);
  void copy_stack(Entry& entry, Nanos now);
  // Nothing while it stands in the run queue.
  std::optional<ThreadLook> observe(pid_t tid) const;
  void update(Entry& entry, const ThreadLook& look);
  void end(Entry& entry, const WaitAccount::Wait& wait, bool ongoing);
  void add(const Sleeper& sleeper, const ThreadLook& first);
  std::optional<Entry> take(uint32_t serial);

  const WaitLimits limits_;
  WaitRecords records_;
  SleeperCopy copy_;
  const linux::ThreadSchedules schedules_;
  std::atomic<uint64_t> taken_{0}, missed_{0}, ring_full_{0}, unreadable_{0};
  std::atomic<int64_t> period_ns_{0};       // the mean time between two rounds, lately
  std::atomic<int64_t> longest_gap_ns_{0};  // between two rounds: we had no CPU

  std::mutex lock_;
  std::vector<Sleeper> fresh_;  // not yet looked at
  std::vector<Entry> active_;
  std::deque<Entry> resting_;  // asleep for long: asked in turn
  std::vector<ThreadTimes> ended_;
  ClockThread thread_;  // the last: it works with all of the above
};

}  // namespace tarsier::agent
