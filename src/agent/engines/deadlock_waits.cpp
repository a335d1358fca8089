#include "agent/engines/deadlock_waits.h"

#include "agent/method_names.h"
#include "base/clock.h"
#include "hotspot/flags.h"

namespace tarsier::agent {
namespace {

// ObjectMonitor::_object: the object itself up to 15, a weak handle since then.
constexpr int kFirstWithHandles = 16;
// Each stops all threads, for some ten microseconds.
constexpr size_t kMostAsked = 32;

bool has_state(jvmtiEnv* jvmti, jthread thread, jint wanted) {
  jint state = 0;
  return jvmti->GetThreadState(thread, &state) == JVMTI_ERROR_NONE && (state & wanted) == wanted;
}
bool is_blocked(jvmtiEnv* jvmti, jthread thread) {
  return has_state(jvmti, thread, JVMTI_THREAD_STATE_BLOCKED_ON_MONITOR_ENTER);
}

// With -Xcheck:jni the JVM ends itself if it is given a reference that it has not made (see object_of).
bool checks_references(const Jvm& jvm) {
  const auto flag = hotspot::find_flag(jvm.memory(), *jvm.lib().structs(), "CheckJNICalls");
  return !flag || jvm.memory().read<uint8_t>(*flag).value_or(1) != 0;
}

}  // namespace

WaitLayout WaitLayout::find(const Jvm& jvm) {
  const hotspot::VmStructs& structs = *jvm.lib().structs();
  const auto of_thread = [&](const char* field) {
    const auto offset = structs.offset("JavaThread", field);
    return offset ? *offset : structs.offset("Thread", field).value_or(0);
  };
  return {of_thread("_current_pending_monitor"), of_thread("_current_waiting_monitor"),
          checks_references(jvm) ? 0 : structs.offset("ObjectMonitor", "_object").value_or(0),
          jvm.major() >= kFirstWithHandles};
}

JvmWaits::JvmWaits(EngineContext& context, LockThreads& threads, const LockLayout& locks)
    : context_(context), threads_(threads), locks_(locks), layout_(WaitLayout::find(context.jvm)) {}

void JvmWaits::forget_threads() {
  for (const auto& [id, thread] : waiting_) context_.jvm.jni()->DeleteLocalRef(thread);
  waiting_.clear();
}

jthread JvmWaits::thread(int64_t id) const {
  const auto found = waiting_.find(id);
  return found != waiting_.end() ? found->second : nullptr;
}

std::vector<LockWait> JvmWaits::all() {
  forget_threads();
  before_ = std::move(monitors_);
  monitors_.clear();
  asked_.clear();
  put_off_ = false;
  jvmtiEnv* jvmti = context_.jvm.jvmti();
  JNIEnv* jni = context_.jvm.jni();
  jint count = 0;
  JvmtiMemory<jthread> threads(jvmti);
  std::vector<LockWait> waits;
  if (jvmti->GetAllThreads(&count, threads.out()) != JVMTI_ERROR_NONE) return waits;
  for (jint i = 0; i < count; ++i) {
    jthread thread = threads.get()[i];
    if (const auto wait = wait_of(thread)) {
      waits.push_back(*wait);
      waiting_[wait->thread] = thread;
    } else {
      jni->DeleteLocalRef(thread);
    }
  }
  return waits;
}

std::optional<LockWait> JvmWaits::of(int64_t id) {
  jthread known = thread(id);
  return known != nullptr ? wait_of(known) : std::nullopt;
}

std::optional<LockWait> JvmWaits::wait_of(jthread thread) {
  const int64_t id = context_.threads.java_id_of(context_.jvm.jni(), thread);
  const auto wait = monitor_wait(thread, id);
  return wait ? wait : park_wait(thread, id);
}

uint64_t JvmWaits::monitor_of(jthread thread) const {
  const Address java_thread = context_.threads.java_thread_of(context_.jvm.jni(), thread);
  if (java_thread == 0) return 0;
  uint64_t pending = 0, waiting = 0;
  const MemoryPiece pieces[] = {
      {&pending, java_thread + layout_.pending_monitor, layout_.pending_monitor != 0 ? sizeof pending : 0},
      {&waiting, java_thread + layout_.waiting_monitor, layout_.waiting_monitor != 0 ? sizeof waiting : 0}};
  if (!context_.jvm.memory().copy_all(pieces)) return 0;
  return pending != 0 ? pending : waiting;
}

std::optional<LockWait> JvmWaits::monitor_wait(jthread thread, int64_t id) {
  const uint64_t monitor = monitor_of(thread);
  if (monitor == 0) return std::nullopt;
  // Nobody: then it is in Object.wait and not yet notified, as a rule. That is told apart from being blocked only by
  // JVMTI, whose word for it is dear since 21: some microseconds.
  const uint64_t owner_word = context_.jvm.memory().read<uint64_t>(monitor + locks_.owner).value_or(0);
  if (owner_word == 0 || !is_blocked(context_.jvm.jvmti(), thread)) return std::nullopt;
  monitors_[id] = monitor;
  const int64_t owner = owner_of(monitor, owner_word, thread, id);
  if (owner == 0) return std::nullopt;
  return LockWait{id, owner, true, monitor};
}

int64_t JvmWaits::owner_of(uint64_t monitor, uint64_t owner_word, jthread waiting, int64_t waiting_id) {
  const auto [serial, virtual_id] = threads_.owner_of(owner_word, locks_.owner_is_id, monotonic_now());
  if (virtual_id != 0) return virtual_id;
  if (serial != 0) {
    const auto known = context_.threads.find(serial);
    return known ? known->java_id : 0;
  }
  // Since 21 (unless it was told otherwise) the JVM may leave open who it is, until the owner comes by itself.
  if (const auto asked = asked_.find(monitor); asked != asked_.end()) return asked->second;
  const auto before = before_.find(waiting_id);
  if (before == before_.end() || before->second != monitor || asked_.size() >= kMostAsked) {
    put_off_ = true;
    return 0;
  }
  return asked_[monitor] = ask_for_owner(monitor, waiting);
}

int64_t JvmWaits::ask_for_owner(uint64_t monitor, jthread waiting) {
  jvmtiEnv* jvmti = context_.jvm.jvmti();
  JNIEnv* jni = context_.jvm.jni();
  jvmtiCapabilities wanted{};
  wanted.can_get_monitor_info = 1;
  if (jvmti->AddCapabilities(&wanted) != JVMTI_ERROR_NONE || jni->PushLocalFrame(16) != JNI_OK) return 0;
  int64_t owner = 0;
  jvmtiMonitorUsage usage{};
  jobject object = object_of(monitor, waiting);
  if (object != nullptr && jvmti->GetObjectMonitorUsage(object, &usage) == JVMTI_ERROR_NONE) {
    if (usage.owner != nullptr) owner = context_.threads.java_id_of(jni, usage.owner);
    for (jthread* threads : {usage.waiters, usage.notify_waiters}) {
      if (threads != nullptr) jvmti->Deallocate(reinterpret_cast<unsigned char*>(threads));
    }
  }
  jni->PopLocalFrame(nullptr);
  return owner;
}

// JVMTI tells what a thread is blocked by only to agents that were there from the start. But a monitor has its object,
// or a weak handle of it, in a slot that the collector keeps right: just what a JNI reference is.
jobject JvmWaits::object_of(uint64_t monitor, jthread waiting) {
  if (layout_.object == 0) return nullptr;
  Address slot = monitor + layout_.object;
  if (layout_.object_is_handle) {
    constexpr uint64_t kWeak = 1;  // how the JVM marks weak references of JNI
    slot = context_.jvm.memory().read<uint64_t>(slot).value_or(0);
    if (slot == 0) return nullptr;
    slot |= kWeak;
  }
  // As long as somebody is blocked by it, a monitor stays with its object. Once nobody is, it takes the JVM a fraction
  // of a second at least to give it up.
  if (monitor_of(waiting) != monitor || !is_blocked(context_.jvm.jvmti(), waiting)) return nullptr;
  return context_.jvm.jni()->NewLocalRef(reinterpret_cast<jobject>(slot));  // NOLINT: see above
}

std::optional<LockWait> JvmWaits::park_wait(jthread thread, int64_t id) {
  if (locks_.ownable == nullptr) return std::nullopt;
  jvmtiEnv* jvmti = context_.jvm.jvmti();
  JNIEnv* jni = context_.jvm.jni();
  jobject blocker = jni->GetObjectField(thread, locks_.park_blocker);
  if (blocker == nullptr) return std::nullopt;
  std::optional<LockWait> wait;
  jobject owner = jni->IsInstanceOf(blocker, locks_.ownable) == JNI_TRUE
                      ? jni->GetObjectField(blocker, locks_.exclusive_owner)
                      : nullptr;
  jint identity = 0;
  if (owner != nullptr &&
      has_state(jvmti, thread, JVMTI_THREAD_STATE_PARKED | JVMTI_THREAD_STATE_WAITING_INDEFINITELY) &&
      jvmti->GetObjectHashCode(blocker, &identity) == JVMTI_ERROR_NONE) {
    wait = {id, context_.threads.java_id_of(jni, owner), false, static_cast<uint32_t>(identity)};
  }
  if (owner != nullptr) jni->DeleteLocalRef(owner);
  jni->DeleteLocalRef(blocker);
  return wait;
}

JvmWaits::Lock JvmWaits::describe(jobject object) {
  jvmtiEnv* jvmti = context_.jvm.jvmti();
  JNIEnv* jni = context_.jvm.jni();
  Lock lock;
  if (jvmti->GetObjectHashCode(object, &lock.identity) != JVMTI_ERROR_NONE) return {};
  jclass klass = jni->GetObjectClass(object);
  JvmtiMemory<char> signature(jvmti);
  if (jvmti->GetClassSignature(klass, signature.out(), nullptr) == JVMTI_ERROR_NONE) {
    lock.class_name = class_name_of(signature.get());
  }
  jni->DeleteLocalRef(klass);
  return lock;
}

JvmWaits::Lock JvmWaits::lock_of(const LockWait& wait) {
  jthread waiting = thread(wait.thread);
  if (waiting == nullptr) return {};
  JNIEnv* jni = context_.jvm.jni();
  jobject object = wait.is_monitor ? object_of(wait.lock, waiting) : jni->GetObjectField(waiting, locks_.park_blocker);
  if (object == nullptr) return {};
  Lock lock = describe(object);
  jni->DeleteLocalRef(object);
  return lock;
}

}  // namespace tarsier::agent
