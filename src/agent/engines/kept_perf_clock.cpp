#include "agent/engines/kept_perf_clock.h"

#include <algorithm>
#include <new>

#include "base/clock.h"

namespace tarsier::agent {
namespace {

using capture::Pace;
using capture::ThreadClock;

// While nobody has used up its interval, rounds become as rare as that.
constexpr Nanos kRarest = millis(16);
// A tick that was asked for comes after half an interval of its thread's time at most. Of one that has not come after
// so many, a signal of somebody else has taken the place.
constexpr int kPatience = 4;

}  // namespace

KeptPerfClock::KeptPerfClock(const capture::PerfClock::Options& options)
    : clock_(options), interval_(static_cast<int64_t>(options.interval_ns)) {
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

// Those who ask are taken in by the session's thread, a drain later.
void KeptPerfClock::tend() noexcept {
  survive([this] { take_in(); });
  if (kept_.load(std::memory_order_relaxed) == 0) return;
  if (!has_thread_) has_thread_ = thread_.start(run, this) == 0;
  if (!has_thread_) survive([this] { round(); });  // rarely, but better than not at all
}

void KeptPerfClock::take_in() {
  const std::lock_guard guard(taking_);
  take_in_locked();
}

// Without memory the rest waits for another time.
void KeptPerfClock::take_in_locked() {
  if (waiting_ == nullptr) waiting_ = clock_.take_restless();
  while (waiting_ != nullptr) {
    ThreadClock& thread = *waiting_;
    const auto cpu = linux::thread_cpu_time(thread.tid);
    threads_.add(thread.tid, cpu.value_or(Nanos(0)), {&thread, Nanos(0)});
    waiting_ = thread.restless.next;
    // release: pairs with look_at(). From now on it may ask again.
    thread.restless.pace.store(Pace::kKept, std::memory_order_release);
    taken_.fetch_add(1, std::memory_order_relaxed);
    if (kept_.fetch_add(1, std::memory_order_relaxed) > 0) continue;
    const std::lock_guard asleep(sleeping_);
    wake_.notify_all();
  }
}

// No handler of the thread's is at work.
void KeptPerfClock::let_go(ThreadClock& thread) {
  if (thread.restless.pace.load(std::memory_order_relaxed) == Pace::kSteady) return;
  const std::lock_guard guard(taking_);
  survive([this] { take_in_locked(); });
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

void KeptPerfClock::quieten(ThreadClock& thread) noexcept {
  let_go(thread);
  clock_.quieten(thread);
}

void* KeptPerfClock::run(void* self) {
  static_cast<KeptPerfClock*>(self)->keep();
  return nullptr;
}

void KeptPerfClock::keep() {
  Nanos period = interval_;
  const Nanos rarest = std::max(interval_, kRarest);
  RandomTicks ticks(interval_);
  while (!thread_.must_stop()) {
    {
      std::unique_lock lock(sleeping_);
      wake_.wait(lock, [this] { return closing_ || kept_.load(std::memory_order_relaxed) > 0; });
    }
    ticks.wait(period);
    survive([this] { round(); });
    period = armed_ > 0 ? std::max(interval_, period / 2) : std::min(rarest, period * 2);
  }
}

void KeptPerfClock::round() {
  armed_ = 0;
  leaving_ = false;
  threads_.round([this](Kept& kept, pid_t, Nanos cpu, bool ran) { return look_at(kept, cpu, ran); });
  if (!leaving_) return;
  // Unless it has come back meanwhile.
  remove_if([](const Kept& kept) {
    Pace leaving = Pace::kLeaving;
    return kept.clock->restless.pace.compare_exchange_strong(leaving, Pace::kSteady, std::memory_order_acq_rel);
  });
}

bool KeptPerfClock::look_at(Kept& kept, Nanos cpu, bool ran) {
  capture::RestlessThread& restless = kept.clock->restless;
  // acquire: pairs with the handler, which has set the event's period before.
  if (restless.pace.load(std::memory_order_acquire) != Pace::kKept) {
    leaving_ = true;
    return ran;
  }
  if (static_cast<uint64_t>(cpu.count) < restless.due_cpu_ns.load(std::memory_order_relaxed)) return ran;
  const bool lost = cpu - kept.armed_at > interval_ * kPatience;
  if (restless.armed.exchange(true, std::memory_order_acquire) && !lost) return ran;
  kept.armed_at = cpu;
  capture::PerfClock::arm(*kept.clock);
  ++armed_;
  return true;
}

}  // namespace tarsier::agent
