#include "agent/engines/timekeeper.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <new>

#include "base/clock.h"
#include "linux/procfs.h"

namespace tarsier::agent {
namespace {

constexpr Nanos kOnTime = micros(50);
// Few enough that a starved machine still gives samples, many enough that those from bad places hardly count.
constexpr int kMaxSkipped = 4;

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
    threads_.add(tid, *cpu, {&thread, *cpu - Nanos(static_cast<int64_t>(credit))});
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
  return 0;
}

void Timekeeper::stop(capture::ThreadClock& thread) noexcept {
  threads_.remove_if([&](const Kept& kept) { return kept.clock == &thread; });
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
    // If there is no memory to move a thread between the lists it stays where it was.
    survive([this] {
      threads_.round([this](Kept& kept, pid_t tid, Nanos cpu, bool ran) { return look_at(kept, tid, cpu, ran); });
    });
  }
}

bool Timekeeper::look_at(Kept& kept, pid_t tid, Nanos cpu, bool ran) {
  const Nanos used = cpu - kept.sampled;
  // Half an interval, since ticks come at random between half and one and a half: a thread that runs all the time is
  // sampled at each, one that runs now and then when it has gathered enough.
  if (used < interval_ / 2) return ran;
  // It has used its share, but it may have gone to sleep since: a signal would show where it waits, and wake it with
  // EINTR. It is sampled the next time it is seen running (or preempted, perhaps by us).
  if (linux::thread_state(tid) != 'R') return ran;
  // If we were late, then because somebody else's turn had to end first: perhaps this thread's, which is then where
  // threads are made to give up their CPU and not anywhere. One that runs on another CPU has nothing to do with that.
  const bool runs_now = on_time_ || linux::thread_cpu_time(tid) != cpu;
  if (!runs_now && ++kept.skipped < kMaxSkipped) return ran;
  kept.skipped = 0;
  capture::ThreadClock& clock = *kept.clock;
  clock.due_ns.fetch_add(static_cast<uint64_t>(used.count), std::memory_order_relaxed);
  kept.sampled = cpu;
  // The last one is still under way, because the thread waits for a CPU: it tells how long.
  if (clock.asked.exchange(true, std::memory_order_acquire)) return true;
  clock.asked_ns.store(static_cast<uint64_t>(monotonic_now().count), std::memory_order_relaxed);
  if (::syscall(SYS_tgkill, pid(), tid, signal_) != 0) clock.asked.store(false, std::memory_order_relaxed);
  return true;
}

}  // namespace tarsier::agent
