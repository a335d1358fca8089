#include "agent/callbacks.h"

#include <unistd.h>

#include <atomic>

#include "agent/session.h"
#include "agent/session_slot.h"
#include "agent/stub_names.h"
#include "base/quiet.h"
#include "base/sigsafe/gate.h"

namespace tarsier::agent {
namespace {

std::atomic<Session*> g_session{nullptr};
Gate g_gate;

class Visit {
 public:
  Visit() : key_(static_cast<uint32_t>(::gettid())) {
    g_gate.enter(key_);
    session_ = g_session.load(std::memory_order_seq_cst);  // see Gate
  }
  ~Visit() { g_gate.leave(key_); }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;
  explicit operator bool() const { return session_ != nullptr; }
  Session& operator*() const { return *session_; }

 private:
  uint32_t key_;
  Session* session_;
};

// Nothing may be thrown into the JVM. What can be is want of memory: then that thread or class is not followed.
template <class Work>
void visit(Work&& work) noexcept {
  try {
    if (Visit session; session) work(*session);
  } catch (const std::exception&) {
  }
}

void JNICALL on_thread_start(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread) {
  visit([&](Session& session) { session.on_thread_start(jvmti, jni, thread); });
}
void JNICALL on_thread_end(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread) {
  visit([&](Session& session) { session.on_thread_end(jvmti, jni, thread); });
}
void JNICALL on_class_prepare(jvmtiEnv* jvmti, JNIEnv*, jthread, jclass klass) {
  visit([&](Session& session) { session.on_class_prepare(jvmti, klass); });
}
void JNICALL on_sampled_object(jvmtiEnv* jvmti, JNIEnv* jni, jthread, jobject, jclass klass, jlong size) {
  visit([&](Session& session) { session.on_sampled_object(jvmti, jni, klass, size); });
}
void JNICALL on_monitor_enter(jvmtiEnv* jvmti, JNIEnv* jni, jthread, jobject object) {
  visit([&](Session& session) { session.on_monitor_enter(jvmti, jni, object); });
}
void JNICALL on_monitor_entered(jvmtiEnv* jvmti, JNIEnv* jni, jthread, jobject object) {
  visit([&](Session& session) { session.on_monitor_entered(jvmti, jni, object); });
}
void JNICALL on_monitor_wait(jvmtiEnv* jvmti, JNIEnv* jni, jthread, jobject object, jlong) {
  visit([&](Session& session) { session.on_monitor_wait(jvmti, jni, object); });
}
void JNICALL on_class_file(jvmtiEnv* jvmti, JNIEnv*, jclass redefined, jobject, const char* name, jobject, jint size,
                           const unsigned char* bytes, jint* new_size, unsigned char** new_bytes) {
  visit([&](Session& session) { session.on_class_file({jvmti, redefined, name, bytes, size, new_size, new_bytes}); });
}
// In the JVM's thread, while the program stands still: nothing of the JVM may be called.
void JNICALL on_collection_start(jvmtiEnv*) {
  visit([&](Session& session) { session.on_collection_start(); });
}
void JNICALL on_collection_finish(jvmtiEnv*) {
  visit([&](Session& session) { session.on_collection_finish(); });
}
// AsyncGetCallTrace refuses to work unless somebody listens to class loading.
void JNICALL on_class_load(jvmtiEnv*, JNIEnv*, jthread, jclass) {}
// Not through the gate: it waits for the session, which waits for the gate. The slot keeps the session alive.
void JNICALL on_vm_death(jvmtiEnv*, JNIEnv*) {
  const auto session = session_in_slot();
  if (session == nullptr || session->on_vm_death()) return;
  // It hangs, on a dead disk perhaps. No handler may ask a JVM that is being torn down for stacks.
  visit([](Session& running) { running.silence(); });
}

}  // namespace

Status install_callbacks(jvmtiEnv* jvmti) {
  jvmtiEventCallbacks callbacks{};
  callbacks.ThreadStart = on_thread_start;
  callbacks.ThreadEnd = on_thread_end;
  callbacks.ClassPrepare = on_class_prepare;
  callbacks.ClassLoad = on_class_load;
  callbacks.VMDeath = on_vm_death;
  callbacks.SampledObjectAlloc = on_sampled_object;
  callbacks.MonitorContendedEnter = on_monitor_enter;
  callbacks.MonitorContendedEntered = on_monitor_entered;
  callbacks.MonitorWait = on_monitor_wait;
  callbacks.ClassFileLoadHook = on_class_file;
  callbacks.GarbageCollectionStart = on_collection_start;
  callbacks.GarbageCollectionFinish = on_collection_finish;
  callbacks.DynamicCodeGenerated = on_dynamic_code;
  if (jvmti->SetEventCallbacks(&callbacks, sizeof(callbacks)) != JVMTI_ERROR_NONE) {
    return Error{Errc::kFailed, "the JVM does not take our JVMTI callbacks"};
  }
  return {};
}

void attach_callbacks(Session& session) {
  g_session.store(&session, std::memory_order_seq_cst);
}

void detach_callbacks() {
  g_session.store(nullptr, std::memory_order_seq_cst);
  wait_until_quiet(g_gate);
}

}  // namespace tarsier::agent
