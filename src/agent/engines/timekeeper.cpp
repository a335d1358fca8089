#include "agent/engines/timekeeper.h"

#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/clock.h"
#include "linux/procfs.h"

namespace tarsier::agent {
namespace {

// A look at a thread's clock is a system call of about 0.3 us: with ten thousand idle threads only some are asked at
// each tick, so the thread costs a few percent of one CPU at most; one that wakes up is noticed a few rounds later.
constexpr size_t kIdleLooksPerTick = 64;
constexpr int kLooksUntilIdle = 20;
constexpr Nanos kOnTime = micros(50);
// Few enough that a starved machine still gives samples, many enough that those from bad places hardly count.
constexpr int kMaxSkipped = 4;
// The lock is held for that many at a time: threads that start or end wait for it, and not longer than some 0.1 ms.
constexpr size_t kLooksPerBatch = 64;

}  // namespace

int Timekeeper::open(capture::Repeats&) noexcept {
  return thread_.start(run, this);
}

int Timekeeper::start(pid_t tid, capture::ThreadClock& thread) noexcept {
  const auto cpu = linux::thread_cpu_time(tid);
  if (!cpu) return ESRCH;
  thread.random = (static_cast<uint64_t>(tid) << 32) ^ static_cast<uint64_t>(cpu->count) ^ 0x9E3779B97F4A7C15ULL;
  // As if it had used a random part of its first share already: short lives are then seen as often as they deserve.
  const auto credit = capture::draw_phase(static_cast<uint64_t>(interval_.count / 2), thread.random);
  try {
    const Waiting waiting(*this);
    active_.push_back({tid, &thread, *cpu, *cpu - Nanos(static_cast<int64_t>(credit))});
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
  return 0;
}

void Timekeeper::stop(capture::ThreadClock& thread) noexcept {
  const Waiting waiting(*this);
  const auto is_it = [&](const Entry& entry) { return entry.clock == &thread; };
  std::erase_if(active_, is_it);
  std::erase_if(idle_, is_it);
}

void* Timekeeper::run(void* self) {
  static_cast<Timekeeper*>(self)->keep_time();
  return nullptr;
}

void Timekeeper::keep_time() {
  RandomTicks ticks(interval_);
  while (!thread_.must_stop()) {
    ticks.wait();
    on_time_ = ticks.lateness() < kOnTime;
    try {
      tick();
    } catch (const std::bad_alloc&) {
      // Moving a thread between the lists found no memory: it stays where it was, or comes back with its next start.
    }
  }
}

void Timekeeper::tick() {
  for (size_t i = 0; look_at_active(i);) let_others_in();
  look_at_idle();
}

// Threads that come or go between two batches change places in the list: one may be asked twice in a tick or not at
// all, and is asked at the next.
bool Timekeeper::look_at_active(size_t& i) {
  const std::lock_guard guard(lock_);
  for (size_t looks = 0; looks < kLooksPerBatch && i < active_.size(); ++looks) {
    Entry& entry = active_[i];
    entry.idle_looks = look_at(entry) ? 0 : entry.idle_looks + 1;
    if (entry.idle_looks < kLooksUntilIdle) {
      ++i;
      continue;
    }
    idle_.push_back(entry);
    active_[i] = active_.back();
    active_.pop_back();
  }
  return i < active_.size();
}

void Timekeeper::look_at_idle() {
  const std::lock_guard guard(lock_);
  for (size_t looks = std::min(idle_.size(), kIdleLooksPerTick); looks > 0; --looks) {
    Entry entry = idle_.front();
    entry.idle_looks = look_at(entry) ? 0 : kLooksUntilIdle;
    if (entry.idle_looks == 0) {
      active_.push_back(entry);
    } else {
      idle_.push_back(entry);
    }
    idle_.pop_front();  // only now: push_back may find no memory
  }
}

// A mutex goes to whoever asks first, and we would ask again before a thread that waits for it has woken up.
void Timekeeper::let_others_in() {
  constexpr int kPatience = 100;
  for (int i = 0; i < kPatience && waiting_.load(std::memory_order_relaxed) > 0; ++i) ::sched_yield();
}

bool Timekeeper::look_at(Entry& entry) {
  const auto cpu = linux::thread_cpu_time(entry.tid);
  if (!cpu) return false;
  const bool ran = *cpu != entry.seen;
  entry.seen = *cpu;
  const Nanos used = *cpu - entry.sampled;
  // Half an interval, since ticks come at random between half and one and a half: a thread that runs all the time is
  // sampled at each, one that runs now and then when it has gathered enough.
  if (used < interval_ / 2) return ran;
  // It has used its share, but it may have gone to sleep since: a signal would show where it waits, and wake it with
  // EINTR. It is sampled the next time it is seen running (or preempted, perhaps by us).
  if (linux::thread_state(entry.tid) != 'R') return ran;
  // If we were late, then because somebody else's turn had to end first: perhaps this thread's, which is then where
  // threads are made to give up their CPU and not anywhere. One that runs on another CPU has nothing to do with that.
  const bool runs_now = on_time_ || linux::thread_cpu_time(entry.tid) != cpu;
  if (!runs_now && ++entry.skipped < kMaxSkipped) return ran;
  entry.skipped = 0;
  capture::ThreadClock& clock = *entry.clock;
  clock.due_ns.fetch_add(static_cast<uint64_t>(used.count), std::memory_order_relaxed);
  entry.sampled = *cpu;
  // The last one is still under way, because the thread waits for a CPU: it tells how long.
  if (clock.asked.exchange(true, std::memory_order_acquire)) return true;
  clock.asked_ns.store(static_cast<uint64_t>(monotonic_now().count), std::memory_order_relaxed);
  if (::syscall(SYS_tgkill, pid(), entry.tid, signal_) != 0) clock.asked.store(false, std::memory_order_relaxed);
  return true;
}

}  // namespace tarsier::agent
