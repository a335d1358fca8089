// Who has run lately? A thread of ours looks at the CPU clocks of the Java threads in rounds: at those of all that ran
// in one of the last rounds, and at those of some others in turn.
//
// A look is a system call of about 0.3 us. With ten thousand idle threads only some of them are looked at in each
// round, so that a round costs little; one that wakes up is noticed some rounds later.
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/units.h"
#include "linux/procfs.h"

namespace tarsier::agent {

// `Thread`: what the user keeps of each.
template <class Thread>
class CpuRounds {
 public:
  using ReadClock = std::optional<Nanos> (*)(pid_t tid);
  explicit CpuRounds(ReadClock read_clock = linux::thread_cpu_time) : read_clock_(read_clock) {}

  // Any thread; waits for some 0.1 ms at most. `cpu`: its clock now.
  void add(pid_t tid, Nanos cpu, Thread thread) {
    const Waiting waiting(*this);
    active_.push_back({tid, cpu, 0, std::move(thread)});
  }
  // Likewise. is(const Thread&)
  template <class Is>
  void remove_if(Is&& is) {
    const Waiting waiting(*this);
    const auto is_it = [&](const Entry& entry) { return is(entry.thread); };
    std::erase_if(active_, is_it);
    std::erase_if(idle_, is_it);
  }
  // One thread, always the same: calls look(Thread&, pid_t tid, Nanos cpu, bool ran) for each thread that is looked at,
  // under the lock. `ran`: since the last look. False from look(): it need not be looked at soon again.
  template <class Look>
  void round(Look&& look) {
    for (size_t i = 0; look_at_active(i, look);) let_others_in();
    look_at_idle(look);
  }

 private:
  static constexpr size_t kIdleLooksPerRound = 64;
  static constexpr int kLooksUntilIdle = 20;
  // The lock is held for that many at a time: threads that start or end wait for it.
  static constexpr size_t kLooksPerBatch = 64;

  struct Entry {
    pid_t tid = 0;
    Nanos seen;  // CPU time at the last look
    int idle_looks = 0;
    Thread thread;
  };
  // Holds the lock for a thread that starts or ends, after it has made known that it waits for it.
  class Waiting {
   public:
    explicit Waiting(CpuRounds& rounds) : rounds_(rounds) {
      rounds.waiting_.fetch_add(1, std::memory_order_relaxed);
      rounds.lock_.lock();
      rounds.waiting_.fetch_sub(1, std::memory_order_relaxed);
    }
    ~Waiting() { rounds_.lock_.unlock(); }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

   private:
    CpuRounds& rounds_;
  };

  template <class Look>
  bool look_at(Entry& entry, Look& look) {
    const auto cpu = read_clock_(entry.tid);
    if (!cpu) return false;
    const bool ran = *cpu != entry.seen;
    entry.seen = *cpu;
    return look(entry.thread, entry.tid, *cpu, ran);
  }

  // A batch from the i-th on; false after the last. Threads that come or go between two batches change places in the
  // list: one may be looked at twice in a round or not at all, and is looked at in the next.
  template <class Look>
  bool look_at_active(size_t& i, Look& look) {
    const std::lock_guard guard(lock_);
    for (size_t looks = 0; looks < kLooksPerBatch && i < active_.size(); ++looks) {
      Entry& entry = active_[i];
      entry.idle_looks = look_at(entry, look) ? 0 : entry.idle_looks + 1;
      if (entry.idle_looks < kLooksUntilIdle) {
        ++i;
        continue;
      }
      idle_.push_back(entry);
      std::swap(entry, active_.back());
      active_.pop_back();
    }
    return i < active_.size();
  }

  template <class Look>
  void look_at_idle(Look& look) {
    const std::lock_guard guard(lock_);
    for (size_t looks = std::min(idle_.size(), kIdleLooksPerRound); looks > 0; --looks) {
      Entry& entry = idle_.front();
      entry.idle_looks = look_at(entry, look) ? 0 : kLooksUntilIdle;
      // A copy, for push_back may find no memory: then it stays where it was.
      if (entry.idle_looks == 0) {
        active_.push_back(Entry(entry));
      } else {
        idle_.push_back(Entry(entry));
      }
      idle_.pop_front();
    }
  }

  // A mutex goes to whoever asks first, and we would ask again before a thread that waits for it has woken up.
  void let_others_in() {
    constexpr int kPatience = 100;
    for (int i = 0; i < kPatience && waiting_.load(std::memory_order_relaxed) > 0; ++i) ::sched_yield();
  }

  const ReadClock read_clock_;
  std::mutex lock_;
  std::atomic<int> waiting_{0};
  std::vector<Entry> active_;
  std::deque<Entry> idle_;  // looked at in turn
};

}  // namespace tarsier::agent
