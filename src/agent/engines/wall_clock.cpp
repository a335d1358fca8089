#include "agent/engines/wall_clock.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "base/clock.h"
#include "linux/procfs.h"

namespace tarsier::agent {
namespace {

// What a tick may do at most: waking a thread costs it some 10 us and two context switches, looking at its CPU clock
// costs us 0.3 us. With more threads than that a round takes several ticks, and a sample stands for more time.
constexpr int kSignalsPerTick = 16;
constexpr size_t kLooksPerTick = 256;
// From the end of our handler back into its wait a thread needs a few microseconds.
constexpr Nanos kBackToSleep = micros(30);
constexpr Nanos kReportStillEvery = seconds(1);

}  // namespace

int WallClock::open(capture::Repeats& repeats) noexcept {
  repeats_ = &repeats;
  return thread_.start(run, this);
}

int WallClock::start(pid_t tid, capture::ThreadClock& thread) noexcept {
  const Nanos now = monotonic_now();
  thread.random = (static_cast<uint64_t>(tid) << 32) ^ static_cast<uint64_t>(now.count) ^ 0x9E3779B97F4A7C15ULL;
  // As if a random part of an interval had passed: what is lost at its end is on average given at its start.
  const Nanos credit(static_cast<int64_t>(capture::draw_phase(static_cast<uint64_t>(interval_.count), thread.random)));
  try {
    const std::lock_guard guard(lock_);
    Entry entry;
    entry.tid = tid;
    entry.clock = &thread;
    entry.visited = now - credit;
    entries_.push_back(entry);
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
  return 0;
}

void WallClock::stop(capture::ThreadClock& thread) noexcept {
  const std::lock_guard guard(lock_);
  const auto it = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.clock == &thread; });
  if (it == entries_.end()) return;
  report_still(*it, monotonic_now());
  *it = entries_.back();
  entries_.pop_back();
}

void* WallClock::run(void* self) {
  static_cast<WallClock*>(self)->keep_time();
  return nullptr;
}

void WallClock::keep_time() {
  RandomTicks ticks(interval_);
  while (!thread_.must_stop()) {
    const Nanos now = ticks.wait();
    survive([&] { tick(now); });
  }
}

void WallClock::tick(Nanos now) {
  const std::lock_guard guard(lock_);
  int signals = 0;
  for (size_t looks = std::min(entries_.size(), kLooksPerTick); looks > 0 && signals < kSignalsPerTick; --looks) {
    next_ = next_ + 1 < entries_.size() ? next_ + 1 : 0;
    signals += visit(entries_[next_], now) ? 1 : 0;
  }
}

bool WallClock::visit(Entry& entry, Nanos now) {
  const auto cpu = linux::thread_cpu_time(entry.tid);
  if (!cpu) return false;
  const Nanos elapsed = now - entry.visited;
  entry.visited = now;
  capture::ThreadClock& clock = *entry.clock;
  if (clock.asked.load(std::memory_order_acquire)) {
    // Our last signal is still under way: the sample will stand for this time, too.
    clock.due_ns.fetch_add(static_cast<uint64_t>(elapsed.count), std::memory_order_relaxed);
    return false;
  }
  if (entry.sampled && has_not_moved(entry, *cpu)) {
    entry.still = entry.still + elapsed;
    if (entry.still >= kReportStillEvery) report_still(entry, now);
    return false;
  }
  report_still(entry, now);
  entry.sampled = true;
  entry.asleep = false;
  clock.waits.store(linux::sleeping_sp(entry.tid).value_or(0) != 0, std::memory_order_relaxed);
  clock.due_ns.fetch_add(static_cast<uint64_t>(elapsed.count), std::memory_order_relaxed);
  clock.asked.store(true, std::memory_order_relaxed);
  if (::syscall(SYS_tgkill, pid(), entry.tid, signal_) == 0) return true;
  clock.asked.store(false, std::memory_order_relaxed);  // it is gone, or no signal can be queued: the next visit tries
  return false;
}

bool WallClock::has_not_moved(Entry& entry, Nanos cpu) const {
  // Once it was seen asleep there, a CPU clock that stands still is proof.
  if (entry.asleep) return entry.asleep = cpu == entry.cpu;
  if (!entry.clock->waits.load(std::memory_order_relaxed)) return false;
  const uint64_t sp = entry.clock->rested_sp.load(std::memory_order_relaxed);
  const Nanos rested(static_cast<int64_t>(entry.clock->rested_cpu_ns.load(std::memory_order_relaxed)));
  // Our own sample has moved its clock. It is back asleep if it sleeps with the same stack pointer and has hardly run
  // since.
  if (sp == 0 || cpu - rested > kBackToSleep || linux::sleeping_sp(entry.tid) != sp) return false;
  entry.cpu = cpu;
  return entry.asleep = true;
}

void WallClock::report_still(Entry& entry, Nanos now) {
  if (entry.still.count == 0) return;
  repeats_->repeat(*entry.clock, static_cast<uint64_t>(now.count), static_cast<uint64_t>(entry.still.count));
  entry.still = Nanos(0);
}

}  // namespace tarsier::agent
