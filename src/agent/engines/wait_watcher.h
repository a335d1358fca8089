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
#include "agent/thread_registry.h"
#include "linux/thread_schedule.h"

namespace tarsier::agent {

// Of a thread, for the recording.
struct AccountOfThread {
  uint32_t serial = 0;
  WaitAccount account;
};

class WaitWatcher final : public ThreadListener {
 public:
  // Both must live as long.
  WaitWatcher(const WaitLimits& limits, SleeperCopy& copy, MpscRing& ring);
  ~WaitWatcher() override { stop(); }

  int start();  // 0, or an errno
  // Any thread: nobody is looked at any more when it returns.
  void stop() noexcept { thread_.stop(); }

  bool thread_started(const JavaThread& thread) override;
  void thread_ended(const JavaThread& thread) override;  // by the very thread

  // The rest is the session thread's.
  // After stop(): ends the account of some thread; waits that go on are said to be ongoing. False if there is none
  // left. To be called with room in the ring.
  bool close_one();
  // Those that have changed since the last call.
  std::vector<AccountOfThread> changed_accounts();

  struct Counters {
    std::atomic<uint64_t> taken{0}, missed{0}, ring_full{0}, unreadable{0};
    std::atomic<int64_t> period_ns{0};       // the mean time between two rounds, lately
    std::atomic<int64_t> longest_gap_ns{0};  // between two rounds: we had no CPU
  };
  [[nodiscard]] const Counters& counters() const { return counters_; }

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
  bool write(const Entry& entry, const WaitAccount::Wait& wait, bool ongoing);
  void add(const Sleeper& sleeper, const ThreadLook& first);
  std::optional<Entry> take(uint32_t serial);

  const WaitLimits limits_;
  SleeperCopy& copy_;
  MpscRing& ring_;
  const linux::ThreadSchedules schedules_;
  Counters counters_;

  std::mutex lock_;
  std::vector<Sleeper> fresh_;  // not yet looked at
  std::vector<Entry> active_;
  std::deque<Entry> resting_;  // asleep for long: asked in turn
  std::vector<AccountOfThread> ended_;
  ClockThread thread_;  // the last: it works with all of the above
};

}  // namespace tarsier::agent
