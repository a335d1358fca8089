// Object.wait, as LockCapture sees it: who is notified is blocked from then on, until it has its monitor back.
#include <algorithm>

#include "agent/engines/lock_local.h"

namespace tarsier::agent {

using capture::ContendedMonitor;

namespace {

// Waits come by the hundred thousand a second where threads hand work to each other; the long ones tell something.
constexpr uint64_t kShortNs = 100'000;

}  // namespace

void LockCapture::waits(jvmtiEnv* jvmti, JNIEnv* jni, jobject object) noexcept {
  Local* mine = enter();
  if (mine == nullptr) return;
  const Stopwatch watch(*mine);
  mine->waited = name_of(jvmti, jni, object);
  if (mine->waiting != nullptr) mine->waiting->waited.store(mine->waited, std::memory_order_relaxed);
}

void LockCapture::waiting(uint64_t monitor) noexcept {
  Local* mine = enter();
  // Virtual threads come back by another way.
  if (mine == nullptr || virtual_id_of(mine->thread->java_thread) != 0) return;
  mine->waiting = monitors_->find_or_add(monitor);
  if (mine->waiting == nullptr) {
    counters_.add(LockCount::kTaken);
    counters_.add(LockCount::kNoMonitor);
    return;
  }
  mine->wait_began_ns = lock_time_ns();
  mine->was_notified = false;
  mine->notified_before = mine->waiting->notified.load(std::memory_order_relaxed);
  mine->waiting->waiters.fetch_add(1, std::memory_order_relaxed);
  mine->waiting->waited.store(mine->waited, std::memory_order_relaxed);
}

void LockCapture::waited(int64_t timeout_ms) noexcept {
  Local* mine = enter();
  if (mine == nullptr || mine->waiting == nullptr) return;
  mine->waiting->waiters.fetch_sub(1, std::memory_order_relaxed);
  write_wait(*mine, timeout_ms);
  mine->waiting = nullptr;
  mine->waited = 0;
}

void LockCapture::write_wait(Local& mine, int64_t timeout_ms) noexcept {
  const uint64_t took = lock_time_ns() - mine.wait_began_ns;
  if (took < kShortNs) {
    mine.thread->counters.add_alone(LockCount::kShortWaits);
    mine.thread->counters.add_alone(LockCount::kShortWaitNs, took);
    return;
  }
  const Stopwatch watch(mine);
  mine.thread->counters.add_alone(LockCount::kTaken);
  LockRecord record{};
  record.time_ns = mine.wait_began_ns;
  record.act = LockAct::kWaited;
  record.object = mine.waiting->monitor.load(std::memory_order_relaxed);
  record.generation = static_cast<uint64_t>(std::max<int64_t>(0, timeout_ms));
  record.sequence = took;
  record.lock = mine.waited;
  const uint32_t notifier = mine.waiting->notifier.load(std::memory_order_relaxed);
  const uint32_t notified = mine.waiting->notified.load(std::memory_order_acquire) - mine.notified_before;
  if (mine.was_notified) {
    // If others were notified meanwhile, it may have been by any of those who did.
    if (notified == 1) record.other = notifier;
  } else {
    const bool is_up = timeout_ms > 0 && took / 1'000'000 >= static_cast<uint64_t>(timeout_ms);
    record.end = is_up ? LockEnd::kTimeout : LockEnd::kOther;
  }
  record.chain = chain_of(mine, nullptr);
  write(mine, record);
}

void LockCapture::notifying(uint64_t monitor) noexcept {
  ContendedMonitor* entry = monitors_->find(monitor);
  if (entry == nullptr || entry->waiters.load(std::memory_order_relaxed) == 0) return;
  const Local* mine = enter();
  entry->notifier.store(mine != nullptr ? mine->thread->serial : 0, std::memory_order_relaxed);
  entry->notified.fetch_add(1, std::memory_order_release);
  // From now on the thread that is notified is blocked, though it does not know yet.
  const auto blocked = monitors_->block(monitor);
  if (blocked.opened) entry->name(blocked.generation, entry->waited.load(std::memory_order_relaxed));
  entry->notified_ns.store(lock_time_ns(), std::memory_order_relaxed);
}

void LockCapture::reentering(uint64_t monitor) noexcept {
  Local* mine = enter();
  if (mine == nullptr || mine->waiting == nullptr) return;
  const Stopwatch watch(*mine);
  ContendedMonitor* entry = mine->waiting;
  mine->was_notified = true;
  LockRecord record{};
  record.act = LockAct::kBlocked;
  record.after_wait = true;
  record.object = monitor;
  record.time_ns = lock_time_ns();
  const uint64_t notified = entry->notified_ns.load(std::memory_order_relaxed);
  if (notified >= mine->wait_began_ns && notified < record.time_ns) record.time_ns = notified;
  record.generation = entry->generation();
  record.lock = mine->waited;
  mine->entering = entry;
  mine->monitor = monitor;
  mine->generation = record.generation;
  record.chain = chain_of(*mine, nullptr);
  write(*mine, record);
}

void LockCapture::reentered() noexcept {
  Local* mine = enter();
  if (mine == nullptr || mine->entering == nullptr) return;
  const Stopwatch watch(*mine);
  mine->thread->counters.add_alone(LockCount::kTaken);
  LockRecord record{};
  record.act = LockAct::kEntered;
  record.generation = mine->generation;
  record.object = mine->monitor;
  record.lock = mine->waited;
  write_entered(*mine, record, mine->entering);
}

}  // namespace tarsier::agent
