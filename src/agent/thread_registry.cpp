#include "agent/thread_registry.h"

#include <unistd.h>

#include "base/units.h"

namespace tarsier::agent {

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

void ThreadRegistry::set_listener(ThreadListener* listener) {
  const std::lock_guard guard(lock_);
  listener_ = listener;
}

std::string ThreadRegistry::name_of(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread) {
  jvmtiThreadInfo info{};
  if (jvmti->GetThreadInfo(thread, &info) != JVMTI_ERROR_NONE) return {};
  std::string name = info.name == nullptr ? "" : info.name;
  if (info.name != nullptr) jvmti->Deallocate(reinterpret_cast<unsigned char*>(info.name));
  if (info.thread_group != nullptr) jni->DeleteLocalRef(info.thread_group);
  if (info.context_class_loader != nullptr) jni->DeleteLocalRef(info.context_class_loader);
  return name;
}

void ThreadRegistry::add_locked(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread, pid_t tid, void* env) {
  if (tid == excluded_) return;
  const int64_t java_id = jni->GetLongField(thread, fields_.tid);
  if (const auto it = live_.find(tid); it != live_.end()) {
    if (it->second->java_id == java_id) return;
    // The old one was on its way out when we came, too late for its end event, and the kernel gave its id away.
    end_locked(jvmti, jni, tid);
  }
  auto entry = std::make_unique<JavaThread>();
  entry->serial = next_serial_++;
  entry->tid = tid;
  entry->java_id = java_id;
  entry->name = name_of(jvmti, jni, thread);
  entry->env = env;
  entry->ref = jni->NewGlobalRef(thread);
  live_[tid] = entry.get();
  if (listener_ != nullptr) listener_->thread_started(*entry);
  threads_.emplace(entry->serial, std::move(entry));
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
    {
      const std::lock_guard guard(lock_);  // a thread can't end while we look at it: on_end() waits here
      const auto java_thread = static_cast<Address>(jni->GetLongField(thread, fields_.eetop));
      const auto tid = java_thread == 0 ? std::nullopt : hotspot::native_id(jvm_.memory(), layout_, java_thread);
      if (tid) add_locked(jvmti, jni, thread, *tid, reinterpret_cast<char*>(java_thread) + fields_.env_offset);
    }
    jni->DeleteLocalRef(thread);
  }
  return {};
}

void ThreadRegistry::on_start(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread) {
  const std::lock_guard guard(lock_);
  add_locked(jvmti, jni, thread, ::gettid(), jni);
}

void ThreadRegistry::on_end(jvmtiEnv* jvmti, JNIEnv* jni) {
  const std::lock_guard guard(lock_);
  end_locked(jvmti, jni, ::gettid());
}

void ThreadRegistry::end_locked(jvmtiEnv* jvmti, JNIEnv* jni, pid_t tid) {
  const auto it = live_.find(tid);
  if (it == live_.end()) return;
  JavaThread& thread = *it->second;
  live_.erase(it);
  if (listener_ != nullptr) listener_->thread_ended(thread);
  thread.ended = true;
  thread.seen = true;  // its last name is still to be told
  if (std::string name = name_of(jvmti, jni, thread.ref); !name.empty()) thread.name = std::move(name);
  jni->DeleteGlobalRef(thread.ref);
  thread.ref = nullptr;
  ended_.push_back(thread.serial);
}

std::optional<JavaThread> ThreadRegistry::find(uint32_t serial) {
  const std::lock_guard guard(lock_);
  const auto it = threads_.find(serial);
  return it == threads_.end() ? std::nullopt : std::optional(*it->second);
}

void ThreadRegistry::mark_seen(uint32_t serial) {
  const std::lock_guard guard(lock_);
  const auto it = threads_.find(serial);
  if (it != threads_.end()) it->second->seen = true;
}

std::vector<JavaThread> ThreadRegistry::refresh_names() {
  std::vector<uint32_t> seen;
  {
    const std::lock_guard guard(lock_);
    for (auto& [serial, thread] : threads_) {
      if (thread->seen) seen.push_back(serial);
    }
  }
  std::vector<JavaThread> changed;
  for (const uint32_t serial : seen) {
    const std::lock_guard guard(lock_);  // anew for each, so that no starting thread waits for all of them
    const auto it = threads_.find(serial);
    if (it == threads_.end()) continue;
    JavaThread& thread = *it->second;
    thread.seen = false;
    if (!thread.ended) {
      std::string name = name_of(jvm_.jvmti(), jvm_.jni(), thread.ref);
      if (name.empty() || name == thread.name) continue;
      thread.name = std::move(name);
    }
    changed.push_back(thread);
  }
  return changed;
}

void ThreadRegistry::forget_ended() {
  const std::lock_guard guard(lock_);
  for (const uint32_t serial : ended_before_) threads_.erase(serial);
  ended_before_ = std::move(ended_);
  ended_.clear();
}

std::optional<JavaThread> ThreadRegistry::find_by_tid(pid_t tid) {
  const std::lock_guard guard(lock_);
  const auto it = live_.find(tid);
  return it == live_.end() ? std::nullopt : std::optional(*it->second);
}

}  // namespace tarsier::agent
