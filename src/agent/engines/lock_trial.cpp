#include "agent/engines/lock_trial.h"

#include <sched.h>
#include <unistd.h>

#include <atomic>

#include "agent/attached_thread.h"
#include "agent/engines/clock_thread.h"
#include "base/clock.h"

namespace tarsier::agent {
namespace {

// An object to lock, and what may be called of it.
class TrialLock {
 public:
  explicit TrialLock(JNIEnv* jni) : jni_(jni) {
    jclass object_class = jni->FindClass("java/lang/Object");
    jobject local = object_class != nullptr ? jni->AllocObject(object_class) : nullptr;
    if (local != nullptr) {
      object_ = jni->NewGlobalRef(local);
      wait_ = jni->GetMethodID(object_class, "wait", "(J)V");
      notify_ = jni->GetMethodID(object_class, "notify", "()V");
      jni->DeleteLocalRef(local);
    }
    jni->ExceptionClear();
    if (object_class != nullptr) jni->DeleteLocalRef(object_class);
  }
  ~TrialLock() {
    if (object_ != nullptr) jni_->DeleteGlobalRef(object_);
  }
  TrialLock(const TrialLock&) = delete;
  TrialLock& operator=(const TrialLock&) = delete;

  explicit operator bool() const { return object_ != nullptr && wait_ != nullptr && notify_ != nullptr; }
  [[nodiscard]] bool enter(JNIEnv* jni) const { return jni->MonitorEnter(object_) == JNI_OK; }
  void exit(JNIEnv* jni) const { (void)jni->MonitorExit(object_); }
  void wait(JNIEnv* jni, Nanos time) const {
    jni->CallVoidMethod(object_, wait_, jlong{time.count / 1'000'000});
    jni->ExceptionClear();
  }
  void notify(JNIEnv* jni) const {
    jni->CallVoidMethod(object_, notify_);
    jni->ExceptionClear();
  }

 private:
  JNIEnv* const jni_;
  jobject object_ = nullptr;
  jmethodID wait_ = nullptr, notify_ = nullptr;
};

constexpr Nanos kPatience = seconds(5);

// Enters a monitor, and may wait for it.
class Rival {
 public:
  Rival(EngineContext& context, const TrialLock& lock, bool waits)
      : threads_(context.threads), jvmti_(context.jvm.jvmti()), lock_(lock), waits_(waits) {
    context.jvm.jni()->GetJavaVM(&vm_);
  }
  ~Rival() { thread_.stop(); }
  Rival(const Rival&) = delete;
  Rival& operator=(const Rival&) = delete;

  int start() { return thread_.start(run, this, "tarsier-trial"); }
  // Until `holds()` does. False: it does not come to it.
  template <class Condition>
  [[nodiscard]] bool wait_until(const Condition& holds) const {
    const Nanos until = monotonic_now() + kPatience;
    while (!holds()) {
      if (ended_.load(std::memory_order_acquire) || monotonic_now() > until) return false;
      ::sched_yield();
    }
    return true;
  }
  // One of JVMTI's.
  [[nodiscard]] bool is_in_state(jint wanted) const {
    jobject me = me_.load(std::memory_order_acquire);
    jint state = 0;
    return me != nullptr && jvmti_->GetThreadState(me, &state) == JVMTI_ERROR_NONE && (state & wanted) != 0;
  }
  // While it is in such a state.
  [[nodiscard]] const char* java_thread() const { return java_thread_; }
  // What its hooks have seen; it has come to its end then.
  [[nodiscard]] LockSeen seen() {
    thread_.stop();
    return seen_;
  }

 private:
  static void* run(void* self) {
    survive([&] { static_cast<Rival*>(self)->lock_and_unlock(); });
    return nullptr;
  }
  void lock_and_unlock() {
    const AttachedThread attached(vm_, threads_, "tarsier-trial");
    jthread me = nullptr;
    if (JNIEnv* jni = attached.jni(); jni != nullptr && jvmti_->GetCurrentThread(&me) == JVMTI_ERROR_NONE) {
      jobject global = jni->NewGlobalRef(me);
      java_thread_ = threads_.java_thread_of(jni);
      me_.store(global, std::memory_order_release);
      if (lock_.enter(jni)) {
        if (waits_) lock_.wait(jni, kPatience);
        lock_.exit(jni);
      }
      me_.store(nullptr, std::memory_order_release);
      jni->DeleteGlobalRef(global);
    }
    seen_ = locks_seen_by_this_thread();
    ended_.store(true, std::memory_order_release);
  }

  ThreadRegistry& threads_;
  jvmtiEnv* const jvmti_;
  const TrialLock& lock_;
  const bool waits_;
  JavaVM* vm_ = nullptr;
  const char* java_thread_ = nullptr;
  LockSeen seen_{};
  std::atomic<jobject> me_{nullptr};
  std::atomic<bool> ended_{false};
  ClockThread thread_;  // the last: it works with all of the above
};

}  // namespace

Status try_monitor(EngineContext& context, uint64_t pending_monitor) {
  JNIEnv* jni = context.jvm.jni();
  const TrialLock lock(jni);
  if (!lock || !lock.enter(jni)) return Error{Errc::kFailed, "a lock to try them was not got"};
  Rival rival(context, lock, false);
  uint64_t wanted = 0;
  const bool blocked = rival.start() == 0 && rival.wait_until([&] {
    if (!rival.is_in_state(JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER)) return false;
    if (pending_monitor == 0) return true;
    wanted = *reinterpret_cast<const volatile uint64_t*>(rival.java_thread() + pending_monitor);
    return wanted != 0;
  });
  const uint64_t before = locks_seen_by_this_thread().releases;
  lock.exit(jni);
  const LockSeen after = locks_seen_by_this_thread();
  if (!blocked) return Error{Errc::kFailed, "a thread to try them did not block"};
  if (after.releases == before || (wanted != 0 && after.released != wanted)) {
    return Error{Errc::kUnsupported, "they did not see the release of a monitor of our own"};
  }
  return {};
}

Status try_waiting(EngineContext& context) {
  JNIEnv* jni = context.jvm.jni();
  const TrialLock lock(jni);
  if (!lock) return Error{Errc::kFailed, "a lock to try them was not got"};
  Rival rival(context, lock, true);
  const bool waits =
      rival.start() == 0 && rival.wait_until([&] { return rival.is_in_state(JVMTI_THREAD_STATE_IN_OBJECT_WAIT); });
  if (!waits || !lock.enter(jni)) return Error{Errc::kFailed, "a thread to try them did not wait"};
  lock.notify(jni);
  lock.exit(jni);
  const LockSeen mine = locks_seen_by_this_thread(), other = rival.seen();
  if (other.waited == 0 || other.waited != mine.notified || other.waited != other.reentered ||
      other.waited != mine.released) {
    return Error{Errc::kUnsupported, "they did not see how a thread of ours waited and was notified"};
  }
  return {};
}

Status try_signals(EngineContext& context) {
  JNIEnv* jni = context.jvm.jni();
  const TrialLock lock(jni);
  // Before a thread sleeps it may go on trying for a while.
  constexpr int kTries = 10;
  constexpr useconds_t kNap = 5'000;
  for (int i = 0; i < kTries; ++i) {
    if (!lock || !lock.enter(jni)) return Error{Errc::kFailed, "a lock to try them was not got"};
    Rival rival(context, lock, false);
    const bool blocked = rival.start() == 0 && rival.wait_until([&] {
      return rival.is_in_state(JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER);
    });
    ::usleep(kNap);
    lock.exit(jni);
    if (!blocked) return Error{Errc::kFailed, "a thread to try them did not block"};
    const uint64_t signalled = locks_seen_by_this_thread().signalled;
    if (signalled != 0 && rival.seen().slept_on == signalled) return {};
  }
  return Error{Errc::kUnsupported, "they did not see how a thread of ours was woken up for a monitor"};
}

Status try_parking(EngineContext& context) {
  JNIEnv* jni = context.jvm.jni();
  jclass support = jni->FindClass("java/util/concurrent/locks/LockSupport");
  jmethodID unpark = support != nullptr ? jni->GetStaticMethodID(support, "unpark", "(Ljava/lang/Thread;)V") : nullptr;
  jmethodID park = unpark != nullptr ? jni->GetStaticMethodID(support, "parkNanos", "(J)V") : nullptr;
  jthread me = nullptr;
  const LockSeen before = locks_seen_by_this_thread();
  if (park != nullptr && context.jvm.jvmti()->GetCurrentThread(&me) == JVMTI_ERROR_NONE) {
    jni->CallStaticVoidMethod(support, unpark, me);
    jni->CallStaticVoidMethod(support, park, jlong{1'000'000});  // returns at once; if not, then soon
    jni->DeleteLocalRef(me);
  }
  jni->ExceptionClear();
  if (support != nullptr) jni->DeleteLocalRef(support);
  const LockSeen after = locks_seen_by_this_thread();
  if (after.parks == before.parks || after.unparks == before.unparks) {
    return Error{Errc::kUnsupported, "they did not see how a thread of ours was parked and unparked"};
  }
  return {};
}

}  // namespace tarsier::agent
