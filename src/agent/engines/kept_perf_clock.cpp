#include "agent/engines/kept_perf_clock.h"

#include <algorithm>
#include <chrono>
#include <new>

#include "base/clock.h"

namespace tarsier::agent {
namespace {

using capture::Pace;
using capture::ThreadClock;

// Looks are as frequent as that.
constexpr int kLooksPerInterval = 2;
constexpr Nanos kMostFrequent = micros(100);
// While nobody has run, they become as rare as that.
constexpr int kRarest = 8;
// Our thread sleeps so many times as long as it has worked, however many threads there are.
constexpr int kRest = 9;
// In about so many looks what a thread uses at a time is forgotten by half.
constexpr int kForgetful = 16;
// A tick that was asked for, and has not come when its thread has used so many intervals more, never will: a signal of
// somebody else has taken its place.
constexpr int kPatience = 4;

}  // namespace

KeptPerfClock::KeptPerfClock(const capture::PerfClock::Options& options)
    : clock_(options),
      interval_(static_cast<int64_t>(options.interval_ns)),
      usual_period_(std::max(interval_ / kLooksPerInterval, kMostFrequent)),
      period_(usual_period_) {
  clock_.keep_restless();
}

void KeptPerfClock::close() noexcept {
  {
    const std::lock_guard guard(sleeping_);
    closing_ = true;
  }
  wake_.notify_all();
  thread_.stop();
}

// Those who ask are taken in by the session's thread, a drain later. Without memory they ask on.
void KeptPerfClock::tend() noexcept {
  survive([this] {
    while (take_in()) {
    }
  });
  if (kept_.load(std::memory_order_relaxed) == 0) return;
  if (!has_thread_) has_thread_ = thread_.start(run, this) == 0;
  if (!has_thread_) survive([this] { round(); });  // rarely, but better than not at all
}

// Nobody who ends waits for all of them.
bool KeptPerfClock::take_in() {
  constexpr int kAtOnce = 16;
  const std::lock_guard guard(taking_);
  gather();
  for (int i = 0; i < kAtOnce && waiting_ != nullptr; ++i) {
    ThreadClock& thread = *waiting_;
    const Nanos cpu = linux::thread_cpu_time(thread.tid).value_or(Nanos(0));
    threads_.add(thread.tid, cpu, {&thread, cpu, usual_period_, cpu});
    waiting_ = thread.restless.next;
    // release: pairs with look_at(). From now on it may ask again.
    thread.restless.pace.store(Pace::kKept, std::memory_order_release);
    taken_.fetch_add(1, std::memory_order_relaxed);
    if (kept_.fetch_add(1, std::memory_order_relaxed) > 0) continue;
    const std::lock_guard asleep(sleeping_);
    wake_.notify_all();
  }
  return waiting_ != nullptr;
}

void KeptPerfClock::gather() {
  ThreadClock** end = &waiting_;
  while (*end != nullptr) end = &(*end)->restless.next;
  *end = clock_.take_restless();
}

// By the thread itself, or when no handler works for it any more.
void KeptPerfClock::let_go(ThreadClock& thread) {
  if (!thread.restless.has_asked) return;
  const std::lock_guard guard(taking_);
  gather();
  for (ThreadClock** link = &waiting_; *link != nullptr; link = &(*link)->restless.next) {
    if (*link != &thread) continue;
    *link = thread.restless.next;
    break;
  }
  remove_if([&](const Kept& kept) { return kept.clock == &thread; });
  thread.restless.pace.store(Pace::kSteady, std::memory_order_relaxed);
}

template <class Is>
void KeptPerfClock::remove_if(Is&& is) {
  threads_.remove_if([&](const Kept& kept) {
    const bool gone = is(kept);
    if (gone) kept_.fetch_sub(1, std::memory_order_relaxed);
    return gone;
  });
}

void KeptPerfClock::stop(ThreadClock& thread) noexcept {
  let_go(thread);
  clock_.stop(thread);
}

// A handler that comes in between may ask once more: stop() sees to that.
void KeptPerfClock::quieten(ThreadClock& thread) noexcept {
  let_go(thread);
  clock_.quieten(thread);
}

void* KeptPerfClock::run(void* self) {
  static_cast<KeptPerfClock*>(self)->keep();
  return nullptr;
}

void KeptPerfClock::keep() {
  Nanos rest;
  while (!thread_.must_stop()) {
    {
      std::unique_lock lock(sleeping_);
      const auto closing = [this] { return closing_; };
      wake_.wait(lock, [this] { return closing_ || kept_.load(std::memory_order_relaxed) > 0; });
      if (wake_.wait_for(lock, std::chrono::nanoseconds(std::max(period_, rest).count), closing)) return;
    }
    const Nanos before = clock_now(CLOCK_THREAD_CPUTIME_ID);
    survive([this] { round(); });
    rest = (clock_now(CLOCK_THREAD_CPUTIME_ID) - before) * kRest;
    period_ = anybody_ran_ ? usual_period_ : std::min(usual_period_ * kRarest, period_ * 2);
  }
}

void KeptPerfClock::round() {
  anybody_ran_ = false;
  leaving_ = false;
  threads_.round([this](Kept& kept, pid_t, Nanos cpu, bool) { return look_at(kept, cpu); });
  if (!leaving_) return;
  // Unless it has come back meanwhile.
  remove_if([](const Kept& kept) {
    Pace leaving = Pace::kLeaving;
    return kept.clock->restless.pace.compare_exchange_strong(leaving, Pace::kSteady, std::memory_order_acq_rel);
  });
}

bool KeptPerfClock::look_at(Kept& kept, Nanos cpu) {
  capture::RestlessThread& restless = kept.clock->restless;
  const Nanos used = cpu - kept.seen;
  const bool ran = used > Nanos(0);
  kept.seen = cpu;
  if (ran) {
    anybody_ran_ = true;
    kept.at_a_time = std::max(used, kept.at_a_time - kept.at_a_time / kForgetful);
  }
  if (restless.pace.load(std::memory_order_acquire) != Pace::kKept) {
    leaving_ = true;
    return ran;
  }
  // acquire: pairs with wait_for_keeper().
  const uint64_t due = restless.due_cpu_ns.load(std::memory_order_acquire);
  if (due == capture::RestlessThread::kNever) return ran;
  const bool armed = restless.armed.load(std::memory_order_relaxed);
  if (armed && cpu < kept.armed_for + interval_ * kPatience) return ran;
  // The next look may come twice as long after this one as this one has come after the last.
  const Nanos until_next = kept.at_a_time * 3 / 2 * (period_ > usual_period_ ? 2 * (period_ / usual_period_) : 1);
  Nanos left = Nanos(static_cast<int64_t>(due)) - cpu;
  if (left > until_next) return ran;
  if (left < Nanos(0)) {
    // It has used more than was foreseen, and may have gone to sleep: not always what comes right after that.
    if (!armed) late_.fetch_add(1, std::memory_order_relaxed);
    const auto most = static_cast<uint64_t>(kept.at_a_time.count);
    left = Nanos(static_cast<int64_t>(capture::draw_phase(most, random_)));
  }
  restless.armed.store(true, std::memory_order_relaxed);
  kept.armed_for = cpu + left;
  // The event counts less than CPU time: not the switches. To take that off on average would put long turns at a
  // disadvantage, in which there are none.
  capture::PerfClock::arm(*kept.clock, static_cast<uint64_t>(left.count));
  return true;
}

}  // namespace tarsier::agent
