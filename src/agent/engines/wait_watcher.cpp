#include "agent/engines/wait_watcher.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <utility>

#include "base/clock.h"
#include "linux/procfs.h"
#include "linux/short_turns.h"

namespace tarsier::agent {
namespace {

// Of a CPU, in permille, for all that is done: half of it for those that sleep for long.
constexpr int64_t kBudget = 30;
constexpr Nanos kLongestPeriod = millis(20);
// What is read one after the other belongs together if that took no longer.
constexpr Nanos kAtOnce = micros(50);
// A thread that has run but for so much since it was last looked at has not slept for long.
constexpr Nanos kNegligible = micros(20);
constexpr int kLooksUntilResting = 20;

}  // namespace

WaitWatcher::WaitWatcher(const WaitLimits& limits, const hotspot::ThreadFields& fields,
                         const hotspot::VirtualThreadLayout* virtual_threads, size_t ring_bytes)
    : limits_(limits), records_(ring_bytes), copy_(fields, virtual_threads, records_.bottoms(), records_.ring()) {}

Status WaitWatcher::start() {
  if (const int err = thread_.start(run, this, "tarsier-waits")) {
    return errno_error("starting a thread that looks for waits", err);
  }
  return {};
}

void* WaitWatcher::run(void* self) {
  static_cast<WaitWatcher*>(self)->watch();
  return nullptr;
}

void WaitWatcher::watch() {
  linux::ask_for_short_turns();
  Nanos period(0), last = monotonic_now();
  while (!thread_.must_stop()) {
    const Nanos began = monotonic_now();
    longest_gap_ns_.store(std::max(longest_gap_ns_.load(), (began - last).count));
    last = began;
    const Nanos before = clock_now(CLOCK_THREAD_CPUTIME_ID);
    survive([&] {
      look_at_fresh();
      look_at_active();
      look_at_resting(period * kBudget / 2000);
    });
    const Nanos cost = clock_now(CLOCK_THREAD_CPUTIME_ID) - before;
    // Half of the threshold: a wait twice as long as that is then seen in time, whenever it begins.
    const Nanos wanted = std::max(limits_.min / 2, cost * 1000 / kBudget);
    period = std::clamp((period * 7 + wanted) / 8, micros(20), kLongestPeriod);
    period_ns_.store(period.count, std::memory_order_relaxed);
    const Nanos next = began + period;
    const timespec until{next.count / 1'000'000'000, next.count % 1'000'000'000};
    ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
  }
}

// The lock is held for one thread at a time: whoever starts or ends meanwhile need not wait for a whole round.
void WaitWatcher::look_at_active() {
  for (size_t i = 0;;) {
    const std::lock_guard guard(lock_);
    if (i >= active_.size()) return;
    Entry& entry = active_[i];
    entry.still = look_at(entry) == Asked::kAsleep ? entry.still + 1 : 0;
    // Not before its stack is copied, unless that can't be.
    if (entry.still < kLooksUntilResting || (!entry.copied && entry.still < 10 * kLooksUntilResting)) {
      ++i;
      continue;
    }
    resting_.push_back(entry);
    entry = active_.back();
    active_.pop_back();
  }
}

void WaitWatcher::look_at_resting(Nanos budget) {
  constexpr Nanos kOneLook(300);
  size_t left = static_cast<size_t>(std::max<int64_t>(1, budget / kOneLook));
  {
    const std::lock_guard guard(lock_);
    left = std::min(left, resting_.size());
  }
  for (; left > 0; --left) {
    const std::lock_guard guard(lock_);
    if (resting_.empty()) return;
    Entry& entry = resting_.front();
    if (look_at(entry) == Asked::kHasRun) {
      entry.still = 0;
      active_.push_back(entry);
    } else {
      resting_.push_back(entry);
    }
    resting_.pop_front();  // last: if there was no memory it is where it was
  }
}

WaitWatcher::Asked WaitWatcher::look_at(Entry& entry) {
  const Nanos now = monotonic_now();
  const auto cpu = linux::thread_cpu_time(entry.sleeper.tid);
  if (!cpu) return Asked::kGone;
  if (entry.account.open() && *cpu == entry.cpu) {
    entry.account.sleeps_on(now);
    if (!entry.copied && entry.account.open()->length >= limits_.min) copy_stack(entry, now);
    return Asked::kAsleep;
  }
  const Nanos idle = (now - entry.seen) - (*cpu - entry.cpu);
  if (!entry.account.open() && idle < kNegligible) {
    entry.cpu = *cpu;
    entry.seen = now;
    return Asked::kHasRun;
  }
  const auto look = observe(entry.sleeper.tid);
  if (!look) return Asked::kHasRun;
  update(entry, *look);
  if (entry.account.open() && entry.account.open()->length >= limits_.min) copy_stack(entry, look->at);
  return Asked::kHasRun;
}

std::optional<ThreadLook> WaitWatcher::observe(pid_t tid) const {
  constexpr int kTries = 3;
  for (int i = 0; i < kTries; ++i) {
    const Nanos began = monotonic_now();
    const auto before = linux::thread_cpu_time(tid);
    const auto schedule = schedules_.of(tid);
    const auto cpu = linux::thread_cpu_time(tid);
    const Nanos now = monotonic_now();
    if (!before || !schedule || !cpu) return std::nullopt;
    const bool stands = *before == *cpu;
    const bool sleeps = schedule->state != 'R';
    if (stands && !sleeps) return std::nullopt;
    if (!stands && sleeps) continue;  // fell asleep while we looked
    // One that sleeps does not change while we are kept from looking; one that runs does.
    if (stands || now - began < kAtOnce) return ThreadLook{now, *cpu, schedule->queued, schedule->waits, stands};
  }
  return std::nullopt;
}

void WaitWatcher::update(Entry& entry, const ThreadLook& look) {
  const bool was_open = entry.account.open().has_value();
  const uint64_t missed = entry.account.sums().missed.count;
  const auto ended = entry.account.update(look);
  const uint64_t unseen = entry.account.sums().missed.count - missed;
  missed_.fetch_add(unseen, std::memory_order_relaxed);
  taken_.fetch_add(unseen, std::memory_order_relaxed);
  if (ended) end(entry, *ended, false);
  if (ended || !was_open) entry.copied = false;
  entry.cpu = look.cpu;
  entry.seen = look.at;
  entry.changed = true;
}

void WaitWatcher::copy_stack(Entry& entry, Nanos now) {
  const auto still_asleep = [&] { return linux::thread_cpu_time(entry.sleeper.tid) == entry.cpu; };
  switch (copy_.copy(entry.sleeper, now, entry.account.open()->length, still_asleep)) {
    case SleeperCopy::Outcome::kCopied:
      entry.copied = true;
      break;
    case SleeperCopy::Outcome::kUnreadable:
      unreadable_.fetch_add(1, std::memory_order_relaxed);
      break;
    case SleeperCopy::Outcome::kRingFull:  // the next look tries again, as long as it sleeps
    case SleeperCopy::Outcome::kWoken:
      break;
  }
}

void WaitWatcher::end(Entry& entry, const WaitAccount::Wait& wait, bool ongoing) {
  bool written = false;
  if (entry.account.deserves_event(wait)) {
    taken_.fetch_add(1, std::memory_order_relaxed);
    if (!entry.copied) {
      missed_.fetch_add(1, std::memory_order_relaxed);
    } else if (!(written = records_.write_end(entry.sleeper.serial, wait, ongoing))) {
      ring_full_.fetch_add(1, std::memory_order_relaxed);
    }
  }
  entry.account.settle(wait, written);
}

bool WaitWatcher::thread_started(const JavaThread& thread) {
  if (thread_.must_stop()) return true;
  const Sleeper sleeper{thread.tid, thread.serial, thread.java_thread};
  // Of the many that may be there already when we come each is looked at later: nobody is to wait for that.
  const auto look = thread.tid == ::gettid() ? observe(thread.tid) : std::nullopt;
  const std::lock_guard guard(lock_);
  if (look) {
    add(sleeper, *look);
  } else {
    fresh_.push_back(sleeper);
  }
  return true;
}

void WaitWatcher::add(const Sleeper& sleeper, const ThreadLook& first) {
  active_.push_back({sleeper, WaitAccount(limits_, first), first.cpu, first.at});
}

void WaitWatcher::look_at_fresh() {
  for (size_t i = 0;;) {
    const std::lock_guard guard(lock_);
    if (i >= fresh_.size()) return;
    const auto look = observe(fresh_[i].tid);
    if (!look) {  // in the run queue, or gone
      ++i;
      continue;
    }
    add(fresh_[i], *look);
    fresh_[i] = fresh_.back();
    fresh_.pop_back();
  }
}

std::optional<WaitWatcher::Entry> WaitWatcher::take(uint32_t serial) {
  const auto is_it = [serial](const Entry& entry) { return entry.sleeper.serial == serial; };
  if (const auto it = std::find_if(active_.begin(), active_.end(), is_it); it != active_.end()) {
    Entry entry = *it;
    *it = active_.back();
    active_.pop_back();
    return entry;
  }
  std::erase_if(fresh_, [serial](const Sleeper& sleeper) { return sleeper.serial == serial; });
  const auto it = std::find_if(resting_.begin(), resting_.end(), is_it);
  if (it == resting_.end()) return std::nullopt;
  Entry entry = *it;
  resting_.erase(it);
  return entry;
}

void WaitWatcher::thread_ended(const JavaThread& thread) {
  const auto look = observe(thread.tid);  // runs: it is us
  const std::lock_guard guard(lock_);
  auto entry = take(thread.serial);
  if (!entry) return;
  if (look) update(*entry, *look);
  ended_.push_back(times_of(entry->sleeper.serial, entry->account));
}

bool WaitWatcher::close_one() {
  const std::lock_guard guard(lock_);
  if (active_.empty() && resting_.empty()) return false;
  auto entry = take(active_.empty() ? resting_.front().sleeper.serial : active_.back().sleeper.serial);
  if (const auto look = observe(entry->sleeper.tid)) update(*entry, *look);
  if (const auto open = entry->account.open()) {
    if (!entry->copied && entry->account.deserves_event(*open)) copy_stack(*entry, entry->account.last().at);
    end(*entry, *open, true);
    entry->account.forget_open();
  }
  ended_.push_back(times_of(entry->sleeper.serial, entry->account));
  return true;
}

std::vector<ThreadTimes> WaitWatcher::changed_times() {
  const std::lock_guard guard(lock_);
  std::vector<ThreadTimes> changed = std::exchange(ended_, {});
  const auto add = [&](Entry& entry) {
    if (entry.changed) changed.push_back(times_of(entry.sleeper.serial, entry.account));
    entry.changed = false;
  };
  for (Entry& entry : active_) add(entry);
  for (Entry& entry : resting_) add(entry);
  return changed;
}

void WaitWatcher::add_to(EngineStats& stats) {
  stats.dropped["over before the stack was read"] = missed_.load(std::memory_order_relaxed);
  stats.dropped[capture::kDropNames[static_cast<size_t>(capture::Drop::kRingFull)]] =
      ring_full_.load(std::memory_order_relaxed);
  // After the drops, so that a wait dropped in between is not missing from `taken`.
  stats.taken = taken_.load(std::memory_order_relaxed);
  stats.memory = Bytes(static_cast<int64_t>(records_.bytes()));
  stats.counters["stacks unreadable"] = static_cast<int64_t>(unreadable_.load(std::memory_order_relaxed));
  stats.counters["time between two looks (ns)"] = period_ns_.load(std::memory_order_relaxed);
  stats.counters["longest time between two looks (ns)"] = longest_gap_ns_.load(std::memory_order_relaxed);
}

}  // namespace tarsier::agent
