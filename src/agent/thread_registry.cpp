#include "agent/thread_registry.h"

#include <unistd.h>

#include <utility>

#include "agent/thread_kind.h"
#include "base/clock.h"

namespace tarsier::agent {
namespace {

uint64_t next_era() {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

// A name that JVMTI has given us to free.
std::string take_text(jvmtiEnv* jvmti, char* text) {
  if (text == nullptr) return {};
  std::string copy = text;
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(text));
  return copy;
}

}  // namespace

ThreadRegistry::ThreadRegistry(Jvm& jvm) : jvm_(jvm), era_(next_era()) {}

ThreadRegistry::~ThreadRegistry() {
  JNIEnv* jni = jvm_.jni();
  for (auto& [serial, thread] : threads_) {
    if (thread->ref != nullptr) jni->DeleteGlobalRef(thread->ref);
  }
}

Status ThreadRegistry::prepare() {
  JNIEnv* jni = jvm_.jni();
  if (!jvm_.lib().structs())
    return Error{Errc::kUnsupported, "this JVM exports no vmStructs: threads can't be told apart"};
  auto layout = hotspot::ThreadLayout::find(*jvm_.lib().structs());
  if (!layout) return std::move(layout).error();
  layout_ = *layout;

  jclass thread_class = jni->FindClass("java/lang/Thread");
  if (thread_class != nullptr) {
    fields_.eetop = jni->GetFieldID(thread_class, "eetop", "J");
    if (fields_.eetop != nullptr) fields_.tid = jni->GetFieldID(thread_class, "tid", "J");
    jni->DeleteLocalRef(thread_class);
  }
  if (fields_.eetop == nullptr || fields_.tid == nullptr) {
    jni->ExceptionClear();
    return Error{Errc::kUnsupported, "java.lang.Thread of this JVM has no fields eetop and tid"};
  }
  jthread self = nullptr;
  if (jvm_.jvmti()->GetCurrentThread(&self) != JVMTI_ERROR_NONE || self == nullptr) {
    return Error{Errc::kFailed, "the JVM does not know our own thread"};
  }
  fields_.env_offset = reinterpret_cast<char*>(jni) - reinterpret_cast<char*>(jni->GetLongField(self, fields_.eetop));
  jni->DeleteLocalRef(self);
  return {};
}

void ThreadRegistry::exclude(pid_t tid) {
  const std::lock_guard guard(lock_);
  excluded_.insert(tid);
}

void ThreadRegistry::include_again(pid_t tid) {
  const std::lock_guard guard(lock_);
  excluded_.erase(tid);
}

bool ThreadRegistry::is_excluded(pid_t tid) {
  const std::lock_guard guard(lock_);
  return excluded_.contains(tid);
}

void ThreadRegistry::add_listener(ThreadListener& listener) {
  const std::lock_guard guard(lock_);
  listeners_.push_back(&listener);
  for (auto& [tid, thread] : live_) {
    if (!listener.thread_started(*thread)) thread->sampled = false;
  }
}

void ThreadRegistry::remove_listener(ThreadListener& listener) {
  const std::lock_guard guard(lock_);
  std::erase(listeners_, &listener);
}

std::string ThreadRegistry::name_of(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread) {
  jvmtiThreadInfo info{};
  if (jvmti->GetThreadInfo(thread, &info) != JVMTI_ERROR_NONE) return {};
  std::string name = take_text(jvmti, info.name);
  if (info.thread_group != nullptr) jni->DeleteLocalRef(info.thread_group);
  if (info.context_class_loader != nullptr) jni->DeleteLocalRef(info.context_class_loader);
  return name;
}

void ThreadRegistry::name(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread, JavaThread& out) {
  out.kind = "app";
  jvmtiThreadInfo info{};
  if (jvmti->GetThreadInfo(thread, &info) != JVMTI_ERROR_NONE) return;
  out.name = take_text(jvmti, info.name);
  if (info.context_class_loader != nullptr) jni->DeleteLocalRef(info.context_class_loader);
  if (info.thread_group == nullptr) return;  // it has ended
  jvmtiThreadGroupInfo group{};
  if (jvmti->GetThreadGroupInfo(info.thread_group, &group) == JVMTI_ERROR_NONE) {
    out.group = take_text(jvmti, group.name);
    if (group.parent != nullptr) jni->DeleteLocalRef(group.parent);
  }
  jni->DeleteLocalRef(info.thread_group);
  out.kind = kind_of_java_thread(out.name, out.group);
}

// What needs the JVM is asked before the lock is taken: a thread that is suspended while it asks must not hold up the
// others.
JavaThread ThreadRegistry::describe(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread, pid_t tid, void* env) const {
  JavaThread entry;
  entry.tid = tid;
  entry.java_id = java_id_of(jni, thread);
  name(jvmti, jni, thread, entry);
  entry.env = env;
  entry.java_thread = static_cast<const uint8_t*>(env) - fields_.env_offset;
  if (layout_.last_java_sp) {
    entry.last_java_sp = reinterpret_cast<const uint64_t*>(entry.java_thread + *layout_.last_java_sp);
  }
  entry.ref = jni->NewGlobalRef(thread);
  return entry;
}

jobject ThreadRegistry::add_locked(JavaThread entry) {
  jobject unused = nullptr;
  if (const auto it = live_.find(entry.tid); it != live_.end()) {
    if (it->second->java_id == entry.java_id) return entry.ref;
    // The old one was on its way out when we came, too late for its end event, and the kernel gave its id away.
    unused = end_locked(*it->second);
  }
  // Its native thread has become Java's, or has ended, and the kernel gave its id away.
  if (const auto it = live_of_jvm_.find(entry.tid); it != live_of_jvm_.end()) end_jvm_thread_locked(*it->second);
  const uint32_t serial = entry.serial = next_serial_++;
  // Owned before anybody else knows of it: the next step may find no memory.
  JavaThread& stored = *threads_.emplace(serial, std::make_unique<JavaThread>(std::move(entry))).first->second;
  live_[stored.tid] = &stored;
  era_.store(next_era(), std::memory_order_release);
  for (ThreadListener* listener : listeners_) {
    if (!listener->thread_started(stored)) stored.sampled = false;
  }
  return unused;
}

uint32_t ThreadRegistry::add_jvm_thread(pid_t tid, std::string name, std::string_view kind) {
  const std::lock_guard guard(lock_);
  if (excluded_.contains(tid) || live_.contains(tid) || live_of_jvm_.contains(tid)) return 0;
  auto thread = std::make_unique<JavaThread>();
  thread->serial = next_serial_;
  thread->tid = tid;
  thread->name = std::move(name);
  thread->kind_of_jvm = kind;
  bool followed = false;
  for (ThreadListener* listener : listeners_) {
    if (listener->follows_jvm_threads() && listener->thread_started(*thread)) followed = true;
  }
  if (!followed) return 0;
  ++next_serial_;
  live_of_jvm_[tid] = thread.get();
  const uint32_t serial = thread->serial;
  threads_.emplace(serial, std::move(thread));
  return serial;
}

void ThreadRegistry::end_jvm_thread(uint32_t serial) {
  const std::lock_guard guard(lock_);
  const auto it = threads_.find(serial);
  if (it != threads_.end() && !it->second->ended) end_jvm_thread_locked(*it->second);
}

void ThreadRegistry::end_jvm_thread_locked(JavaThread& thread) {
  live_of_jvm_.erase(thread.tid);
  for (ThreadListener* listener : listeners_) {
    if (listener->follows_jvm_threads()) listener->thread_ended(thread);
  }
  thread.ended = true;
  ended_.push_back(thread.serial);
}

bool ThreadRegistry::follows_jvm_thread(pid_t tid) {
  const std::lock_guard guard(lock_);
  return live_of_jvm_.contains(tid);
}

Status ThreadRegistry::add_existing() {
  jvmtiEnv* jvmti = jvm_.jvmti();
  JNIEnv* jni = jvm_.jni();
  jint count = 0;
  JvmtiMemory<jthread> threads(jvmti);
  if (jvmti->GetAllThreads(&count, threads.out()) != JVMTI_ERROR_NONE) {
    return Error{Errc::kFailed, "the JVM does not list its threads"};
  }
  for (jint i = 0; i < count; ++i) {
    jthread thread = threads.get()[i];
    const auto java_thread = static_cast<Address>(jni->GetLongField(thread, fields_.eetop));
    const auto tid = java_thread == 0 ? std::nullopt : hotspot::native_id(jvm_.memory(), layout_, java_thread);
    if (tid && !is_excluded(*tid)) {
      JavaThread entry = describe(jvmti, jni, thread, *tid, reinterpret_cast<char*>(java_thread) + fields_.env_offset);
      jobject unused = entry.ref;
      {
        const std::lock_guard guard(lock_);
        // Under the lock its end can't come between: either its field is cleared by now, or on_end() has come, a moment
        // before the JVM clears it, or comes later.
        const bool has_ended = ended_at_start_.contains(entry.java_id);
        if (!has_ended && jni->GetLongField(thread, fields_.eetop) != 0) unused = add_locked(std::move(entry));
      }
      if (unused != nullptr) jni->DeleteGlobalRef(unused);
    }
    jni->DeleteLocalRef(thread);
  }
  return {};
}

void ThreadRegistry::on_start(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread) {
  const pid_t tid = ::gettid();
  if (is_excluded(tid)) return;
  JavaThread entry = describe(jvmti, jni, thread, tid, jni);
  entry.started = monotonic_now();
  jobject unused = nullptr;
  {
    const std::lock_guard guard(lock_);
    unused = add_locked(std::move(entry));
    // Unless it was found while it started: then it counts as one that was there before us.
    if (const JavaThread& added = *live_.at(tid); added.started.count != 0) started_.push_back(added.serial);
  }
  if (unused != nullptr) jni->DeleteGlobalRef(unused);
}

void ThreadRegistry::on_end(jvmtiEnv* jvmti, JNIEnv* jni, jthread self) {
  std::string name = name_of(jvmti, jni, self);
  const bool has_worked = clock_now(CLOCK_THREAD_CPUTIME_ID) >= linux::kWorthReading;
  linux::ThreadUsage usage = usages_.of_current(has_worked);
  const Nanos now = monotonic_now();
  const Nanos cpu = clock_now(CLOCK_THREAD_CPUTIME_ID);
  const int64_t java_id = java_id_of(jni, self);
  jobject unused = nullptr;
  {
    const std::lock_guard guard(lock_);
    if (starting_) ended_at_start_.insert(java_id);
    const auto it = live_.find(::gettid());
    if (it == live_.end()) return;
    JavaThread& thread = *it->second;
    if (!name.empty()) thread.name = std::move(name);
    thread.cpu_at_end = cpu;
    thread.ended_at = now;
    thread.usage_at_end = usage;
    unused = end_locked(thread);
  }
  if (unused != nullptr) jni->DeleteGlobalRef(unused);
}

jobject ThreadRegistry::end_locked(JavaThread& thread) {
  live_.erase(thread.tid);
  era_.store(next_era(), std::memory_order_release);
  for (ThreadListener* listener : listeners_) listener->thread_ended(thread);
  thread.ended = true;
  thread.seen = true;  // its last name is still to be told
  ended_.push_back(thread.serial);
  return std::exchange(thread.ref, nullptr);
}

uint32_t ThreadRegistry::serial_of_current() {
  struct Known {
    uint64_t era = 0;
    uint32_t serial = 0;
  };
  static thread_local Known known;
  // Pairs with the release where threads come and go. A thread's own coming and going it sees anyway.
  if (known.era == era_.load(std::memory_order_acquire)) return known.serial;
  const std::lock_guard guard(lock_);
  const auto it = live_.find(::gettid());
  known = {era_.load(std::memory_order_relaxed), it == live_.end() ? 0 : it->second->serial};
  return known.serial;
}

uint32_t ThreadRegistry::newest_serial() {
  const std::lock_guard guard(lock_);
  return next_serial_ - 1;
}

std::optional<JavaThread> ThreadRegistry::find(uint32_t serial) {
  const std::lock_guard guard(lock_);
  const auto it = threads_.find(serial);
  return it == threads_.end() ? std::nullopt : std::optional(*it->second);
}

void ThreadRegistry::mark_seen(uint32_t serial) {
  uint32_t& marked = marked_[serial % marked_.size()];
  if (marked == serial) return;
  marked = serial;
  const std::lock_guard guard(lock_);
  const auto it = threads_.find(serial);
  if (it != threads_.end()) it->second->seen = !it->second->is_of_jvm();  // their names stay
}

std::vector<JavaThread> ThreadRegistry::refresh_names() {
  marked_.fill(0);
  std::vector<uint32_t> seen;
  {
    const std::lock_guard guard(lock_);
    for (auto& [serial, thread] : threads_) {
      if (thread->seen) seen.push_back(serial);
    }
  }
  std::vector<JavaThread> changed;
  for (const uint32_t serial : seen) {
    jobject thread_now = nullptr;
    {
      const std::lock_guard guard(lock_);
      const auto it = threads_.find(serial);
      if (it == threads_.end()) continue;
      it->second->seen = false;
      // A local reference of our own: the thread deletes the global one when it ends.
      if (!it->second->ended) thread_now = jvm_.jni()->NewLocalRef(it->second->ref);
      if (thread_now == nullptr) changed.push_back(*it->second);
    }
    if (thread_now == nullptr) continue;
    std::string name = name_of(jvm_.jvmti(), jvm_.jni(), thread_now);
    jvm_.jni()->DeleteLocalRef(thread_now);
    const std::lock_guard guard(lock_);
    const auto it = threads_.find(serial);
    if (it == threads_.end() || name.empty() || name == it->second->name) continue;
    it->second->name = std::move(name);
    changed.push_back(*it->second);
  }
  return changed;
}

void ThreadRegistry::settle_ended() {
  const std::lock_guard guard(lock_);
  starting_ = false;
  ended_at_start_.clear();
  ended_settled_.insert(ended_settled_.end(), ended_.begin(), ended_.end());
  ended_.clear();
}

std::vector<JavaThread> ThreadRegistry::ended() {
  const std::lock_guard guard(lock_);
  std::vector<JavaThread> result;
  for (const uint32_t serial : ended_settled_) result.push_back(*threads_.at(serial));
  return result;
}

std::vector<JavaThread> ThreadRegistry::take_started() {
  const std::lock_guard guard(lock_);
  std::vector<JavaThread> result;
  for (const uint32_t serial : std::exchange(started_, {})) {
    if (const auto it = threads_.find(serial); it != threads_.end()) result.push_back(*it->second);
  }
  return result;
}

void ThreadRegistry::forget_ended() {
  const std::lock_guard guard(lock_);
  for (const uint32_t serial : ended_before_) threads_.erase(serial);
  ended_before_ = std::move(ended_settled_);
  ended_settled_.clear();
}

std::optional<JavaThread> ThreadRegistry::find_by_tid(pid_t tid) {
  const std::lock_guard guard(lock_);
  const auto it = live_.find(tid);
  return it == live_.end() ? std::nullopt : std::optional(*it->second);
}

std::optional<JavaThread> ThreadRegistry::find_ended_by_tid(pid_t tid) {
  const std::lock_guard guard(lock_);
  for (const auto* serials : {&ended_, &ended_before_}) {
    for (auto serial = serials->rbegin(); serial != serials->rend(); ++serial) {
      const auto it = threads_.find(*serial);
      if (it != threads_.end() && it->second->tid == tid && !it->second->is_of_jvm()) return *it->second;
    }
  }
  return std::nullopt;
}

}  // namespace tarsier::agent
