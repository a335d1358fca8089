// Object.wait, as LockCapture sees it: who is notified is blocked from then on, until it has its monitor back.
#include "agent/engines/lock_local.h"

namespace tarsier::agent {

using capture::ContendedMonitor;

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
  if (mine->waiting == nullptr) return;
  mine->wait_began_ns = lock_time_ns();
  mine->waiting->waiters.fetch_add(1, std::memory_order_relaxed);
  mine->waiting->waited.store(mine->waited, std::memory_order_relaxed);
}

void LockCapture::waited() noexcept {
  Local* mine = enter();
  if (mine == nullptr || mine->waiting == nullptr) return;
  mine->waiting->waiters.fetch_sub(1, std::memory_order_relaxed);
  mine->waiting = nullptr;
  mine->waited = 0;
}

void LockCapture::notifying(uint64_t monitor) noexcept {
  ContendedMonitor* entry = monitors_->find(monitor);
  if (entry == nullptr || entry->waiters.load(std::memory_order_relaxed) == 0) return;
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
