// Unsafe.park and unpark, as LockCapture sees them.
#include <time.h>

#include <algorithm>

#include "agent/engines/lock_local.h"

namespace tarsier::agent {

namespace {

// On the clock of the records; 0: never. `time`: ns from now on, or ms since the epoch.
uint64_t end_of_park(uint64_t now, bool is_deadline, int64_t time) noexcept {
  if (!is_deadline) return time > 0 ? now + static_cast<uint64_t>(time) : 0;
  timespec epoch{};
  ::clock_gettime(CLOCK_REALTIME, &epoch);
  constexpr int64_t kMilli = 1'000'000, kFar = int64_t{1} << 40;
  const int64_t passed = epoch.tv_sec * 1'000'000'000 + epoch.tv_nsec;
  const int64_t left = std::clamp<int64_t>(time, 0, kFar) * kMilli - passed;
  return now + static_cast<uint64_t>(std::max<int64_t>(left, 0));
}

}  // namespace

void LockCapture::describe_blocker(jvmtiEnv* jvmti, JNIEnv* jni, jobject blocker, LockRecord& record) noexcept {
  if (record.lock == 0) record.lock = name_of(jvmti, jni, blocker);
  if (has_no_owner(record)) return;
  // Only what tells nothing of the object is remembered without a look at it: two may have the same name.
  if (layout_.ownable != nullptr && jni->IsInstanceOf(blocker, layout_.ownable) == JNI_TRUE) {
    if (jobject owner = jni->GetObjectField(blocker, layout_.exclusive_owner)) {
      record.other = static_cast<uint64_t>(threads_.java_id_of(jni, owner));
      jni->DeleteLocalRef(owner);
    }
  } else if (layout_.condition != nullptr && jni->IsInstanceOf(blocker, layout_.condition) == JNI_TRUE) {
    jobject lock = jni->GetObjectField(blocker, layout_.condition_of);
    const uint32_t number = lock != nullptr ? name_of(jvmti, jni, lock) : 0;
    if (lock != nullptr) jni->DeleteLocalRef(lock);
    record.generation = number;
    if (Named* condition = named(record.lock)) condition->lock_of_condition.store(number, std::memory_order_relaxed);
  } else if (Named* plain = named(record.lock)) {
    plain->is_plain.store(true, std::memory_order_relaxed);
  }
}

bool LockCapture::has_no_owner(LockRecord& record) const noexcept {
  const Named* known = named(record.lock);
  if (known == nullptr) return false;
  if (known->is_plain.load(std::memory_order_relaxed)) return true;
  record.generation = known->lock_of_condition.load(std::memory_order_relaxed);
  return record.generation != 0;
}

void LockCapture::look_at_blocker(jvmtiEnv* jvmti, JNIEnv* jni, Local& mine, LockRecord& record) noexcept {
  jthread self = mine.thread->ref;
  StillObjects::Seen seen;
  LockMemo* const memo = mine.thread->memo;
  LockMemo::Blocker* known = nullptr;
  if (layout_.objects && memo != nullptr) {
    seen = layout_.objects.look(jni, self, layout_.park_blocker);
    if (seen.known && seen.reference == 0) return;
    known = &memo->blocker_at(seen.reference);
    if (seen.known && known->seen == seen && named(known->lock) != nullptr) {
      record.lock = known->lock;
      if (has_no_owner(record)) return;
    }
  }
  jobject blocker = jni->GetObjectField(self, layout_.park_blocker);
  if (blocker == nullptr) return;
  describe_blocker(jvmti, jni, blocker, record);
  jni->DeleteLocalRef(blocker);
  // Nobody else changes the field, so that was what it referred to.
  if (seen.known && record.lock != 0) *known = {seen, record.lock};
}

LockCapture::Park LockCapture::park(jvmtiEnv* jvmti, JNIEnv* jni, bool is_deadline, int64_t time,
                                    const Caller& caller) noexcept {
  Local* mine = enter();
  if (mine == nullptr) return {};
  const Stopwatch watch(*mine);
  LockRecord record{};
  record.act = LockAct::kPark;
  record.object = static_cast<uint64_t>(time);
  record.is_deadline = is_deadline;
  record.virtual_id = virtual_id_of(mine->thread->java_thread);
  if (record.virtual_id != 0 && virtual_parks_told_.load(std::memory_order_relaxed)) return {};
  if (record.virtual_id == 0) {
    look_at_blocker(jvmti, jni, *mine, record);
  } else if (jthread self = nullptr; jvmti->GetCurrentThread(&self) == JVMTI_ERROR_NONE) {
    if (jobject blocker = jni->GetObjectField(self, layout_.park_blocker)) {
      describe_blocker(jvmti, jni, blocker, record);
      jni->DeleteLocalRef(blocker);
    }
    jni->DeleteLocalRef(self);
  }
  record.thread = mine->thread->serial;
  record.chain = chain_of(*mine, &caller);
  record.time_ns = lock_time_ns();
  mine->thread->park = record;
  mine->thread->is_parked.store(true, std::memory_order_release);
  if (Named* lock = sees_holds_ ? named(record.lock) : nullptr) lock->waiting.fetch_add(1, std::memory_order_relaxed);
  return {session_, end_of_park(record.time_ns, is_deadline, time), record.lock};
}

void LockCapture::parked(JNIEnv* jni, const Park& park) noexcept {
  if (park.session != session_) return;
  const uint64_t time = lock_time_ns();
  if (Named* lock = sees_holds_ ? named(park.lock) : nullptr) {
    if (lock->waited_until_ns.load(std::memory_order_relaxed) < time) {
      lock->waited_until_ns.store(time, std::memory_order_relaxed);
    }
    lock->waiting.fetch_sub(1, std::memory_order_relaxed);
  }
  Local* mine = enter_for_event();
  if (mine == nullptr) return;
  const Stopwatch watch(*mine);
  LockThread& thread = *mine->thread;
  LockRecord& record = thread.park;
  record.sequence = time;
  const bool was_interrupted = record.virtual_id == 0 && is_interrupted(jni, thread.ref);
  record.end = park.until_ns != 0 && time >= park.until_ns ? LockEnd::kTimeout
               : was_interrupted                           ? LockEnd::kInterrupt
                                                           : LockEnd::kOther;
  thread.is_parked.store(false, std::memory_order_relaxed);
  write(*mine, record);
}

bool LockCapture::is_interrupted(JNIEnv* jni, jobject thread) const noexcept {
  return layout_.interrupted != nullptr && jni->GetBooleanField(thread, layout_.interrupted) == JNI_TRUE;
}

LockCapture::Unpark LockCapture::unparking(JNIEnv* jni, jobject target) noexcept {
  Unpark unpark;
  if (target == nullptr) return unpark;
  unpark.session = session_;
  unpark.target = threads_.java_id_of(jni, target);
  unpark.time_ns = lock_time_ns();
  return unpark;
}

void LockCapture::unparked(const Unpark& unpark, const Caller* caller) noexcept {
  if (unpark.session != session_) return;
  Local* mine = enter_for_event();
  if (mine == nullptr) return;
  const Stopwatch watch(*mine);
  LockRecord record{};
  record.time_ns = unpark.time_ns;
  record.act = LockAct::kUnpark;
  record.other = static_cast<uint64_t>(unpark.target);
  record.virtual_id = virtual_id_of(mine->thread->java_thread);
  record.chain = chain_of(*mine, caller);
  write(*mine, record);
}

void LockCapture::virtual_parking(jvmtiEnv* jvmti, JNIEnv* jni, int64_t timeout_ns, jobject thread) noexcept {
  Local* mine = enter();
  jobject blocker = mine != nullptr ? jni->GetObjectField(thread, layout_.park_blocker) : nullptr;
  if (blocker == nullptr) return;
  const Stopwatch watch(*mine);
  LockRecord record{};
  record.act = LockAct::kParkBegins;
  record.object = static_cast<uint64_t>(std::max<int64_t>(timeout_ns, 0));
  record.virtual_id = virtual_id_of(mine->thread->java_thread);
  describe_blocker(jvmti, jni, blocker, record);
  jni->DeleteLocalRef(blocker);
  record.chain = chain_of(*mine, nullptr);
  record.time_ns = lock_time_ns();
  write(*mine, record);
  // It may go on wherever and whenever: holds of the next seconds are taken for waited for.
  constexpr uint64_t kSome = 10'000'000'000;
  if (Named* lock = named(record.lock)) {
    lock->waited_until_ns.store(record.time_ns + kSome, std::memory_order_relaxed);
  }
}

void LockCapture::virtual_parked(JNIEnv* jni, jobject thread) noexcept {
  jobject blocker = jni->GetObjectField(thread, layout_.park_blocker);
  if (blocker == nullptr) return;
  jni->DeleteLocalRef(blocker);
  Local* mine = enter_for_event();
  if (mine == nullptr) return;
  const Stopwatch watch(*mine);
  LockRecord record{};
  record.time_ns = lock_time_ns();
  record.act = LockAct::kParkEnds;
  record.virtual_id = virtual_id_of(mine->thread->java_thread);
  record.end = is_interrupted(jni, thread) ? LockEnd::kInterrupt : LockEnd::kOther;
  write(*mine, record);
}

void LockCapture::virtual_unparking(JNIEnv* jni, jobject thread) noexcept {
  // Who sets it later has not parked yet, and will not.
  jobject blocker = jni->GetObjectField(thread, layout_.park_blocker);
  if (blocker == nullptr) return;
  jni->DeleteLocalRef(blocker);
  unparked(unparking(jni, thread), nullptr);
}

}  // namespace tarsier::agent
