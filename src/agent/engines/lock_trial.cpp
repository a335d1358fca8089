#include "agent/engines/lock_trial.h"

#include <sched.h>

#include <atomic>

#include "agent/attached_thread.h"
#include "agent/engines/clock_thread.h"
#include "base/clock.h"

namespace tarsier::agent {
namespace {

// Locks a monitor that the session thread holds.
class Rival {
 public:
  Rival(EngineContext& context, jobject lock) : threads_(context.threads), jvmti_(context.jvm.jvmti()), lock_(lock) {
    context.jvm.jni()->GetJavaVM(&vm_);
  }
  ~Rival() { thread_.stop(); }
  Rival(const Rival&) = delete;
  Rival& operator=(const Rival&) = delete;

  int start() { return thread_.start(run, this, "tarsier-trial"); }
  // False: it does not come to it.
  [[nodiscard]] bool wait_until_blocked() const {
    constexpr Nanos kPatience = seconds(5);
    const Nanos until = monotonic_now() + kPatience;
    while (!is_blocked()) {
      if (ended_.load(std::memory_order_acquire) || monotonic_now() > until) return false;
      ::sched_yield();
    }
    return true;
  }

 private:
  static void* run(void* self) {
    static_cast<Rival*>(self)->lock_and_unlock();
    return nullptr;
  }
  void lock_and_unlock() {
    const AttachedThread attached(vm_, threads_, "tarsier-trial");
    jthread me = nullptr;
    if (JNIEnv* jni = attached.jni(); jni != nullptr && jvmti_->GetCurrentThread(&me) == JVMTI_ERROR_NONE) {
      jobject global = jni->NewGlobalRef(me);
      me_.store(global, std::memory_order_release);
      if (jni->MonitorEnter(lock_) == JNI_OK) (void)jni->MonitorExit(lock_);
      me_.store(nullptr, std::memory_order_release);
      jni->DeleteGlobalRef(global);
    }
    ended_.store(true, std::memory_order_release);
  }
  [[nodiscard]] bool is_blocked() const {
    jobject me = me_.load(std::memory_order_acquire);
    jint state = 0;
    return me != nullptr && jvmti_->GetThreadState(me, &state) == JVMTI_ERROR_NONE &&
           (state & JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER) != 0;
  }

  ThreadRegistry& threads_;
  jvmtiEnv* const jvmti_;
  const jobject lock_;
  JavaVM* vm_ = nullptr;
  std::atomic<jobject> me_{nullptr};
  std::atomic<bool> ended_{false};
  ClockThread thread_;  // the last: it works with all of the above
};

}  // namespace

Status try_monitor(EngineContext& context) {
  JNIEnv* jni = context.jvm.jni();
  jclass object_class = jni->FindClass("java/lang/Object");
  jobject local = object_class != nullptr ? jni->AllocObject(object_class) : nullptr;
  jobject lock = local != nullptr ? jni->NewGlobalRef(local) : nullptr;
  jni->ExceptionClear();
  if (lock == nullptr || jni->MonitorEnter(lock) != JNI_OK)
    return Error{Errc::kFailed, "a lock to try them was not got"};
  Status status;
  {
    Rival rival(context, lock);
    const bool blocked = rival.start() == 0 && rival.wait_until_blocked();
    const uint64_t before = LockHooks::seen_by_this_thread().releases;
    (void)jni->MonitorExit(lock);
    if (!blocked) {
      status = Error{Errc::kFailed, "a thread to try them did not block"};
    } else if (LockHooks::seen_by_this_thread().releases == before) {
      status = Error{Errc::kUnsupported, "they did not see the release of a monitor of our own"};
    }
  }
  jni->DeleteGlobalRef(lock);
  jni->DeleteLocalRef(local);
  jni->DeleteLocalRef(object_class);
  return status;
}

Status try_parking(EngineContext& context) {
  JNIEnv* jni = context.jvm.jni();
  jclass support = jni->FindClass("java/util/concurrent/locks/LockSupport");
  jmethodID unpark = support != nullptr ? jni->GetStaticMethodID(support, "unpark", "(Ljava/lang/Thread;)V") : nullptr;
  jmethodID park = unpark != nullptr ? jni->GetStaticMethodID(support, "parkNanos", "(J)V") : nullptr;
  jthread me = nullptr;
  const LockHooks::Seen before = LockHooks::seen_by_this_thread();
  if (park != nullptr && context.jvm.jvmti()->GetCurrentThread(&me) == JVMTI_ERROR_NONE) {
    jni->CallStaticVoidMethod(support, unpark, me);
    jni->CallStaticVoidMethod(support, park, jlong{1'000'000});  // returns at once; if not, then soon
    jni->DeleteLocalRef(me);
  }
  jni->ExceptionClear();
  if (support != nullptr) jni->DeleteLocalRef(support);
  const LockHooks::Seen after = LockHooks::seen_by_this_thread();
  if (after.parks == before.parks || after.unparks == before.unparks) {
    return Error{Errc::kUnsupported, "they did not see how a thread of ours was parked and unparked"};
  }
  return {};
}

}  // namespace tarsier::agent
