// The Java threads of the JVM, kept right from the start of a session on: who has started, ended, or changed its name.
//
// Threads come and go in JVMTI callbacks, which run in the thread concerned; everything else is the session thread's.
// One lock, never taken by a signal handler, never held for longer than one thread's affairs.
#pragma once

#include <jni.h>
#include <jvmti.h>
#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "agent/jvm.h"
#include "base/units.h"
#include "hotspot/threads.h"
#include "linux/thread_usage.h"
#include "recording/constants.h"

namespace tarsier::agent {

struct JavaThread {
  uint32_t serial = 0;  // unique in the session; native ids are reused
  pid_t tid = 0;
  int64_t java_id = 0;
  std::string name;
  std::string group;                     // of threads, by name
  std::string_view kind;                 // app, vm, jfr
  void* env = nullptr;                   // its JNIEnv
  const uint8_t* java_thread = nullptr;  // what the JVM keeps about it. Gone with the thread.
  jobject ref = nullptr;                 // global, until it ends
  // 0 in it: no Java frame, if it runs no Java code now. Null if this JVM does not tell. Gone with the thread.
  const uint64_t* last_java_sp = nullptr;
  bool ended = false;
  bool sampled = true;      // the engine that follows threads follows it
  Nanos started, ended_at;  // CLOCK_MONOTONIC; 0: it was there before us, or it has not ended
  Nanos cpu_at_end;         // of its native thread, by its own clock
  linux::ThreadUsage usage_at_end;
  bool seen = false;  // had an event since names were last looked at
  // gc, jit or vm: it is one of the JVM's own threads, and none of the above but its numbers and its name is there.
  std::string_view kind_of_jvm;

  [[nodiscard]] bool is_of_jvm() const { return !kind_of_jvm.empty(); }
  [[nodiscard]] recording::ThreadInfo info() const {
    return {name, tid, is_of_jvm() ? std::string_view() : name, java_id, false, group};
  }
};

// An engine that follows threads. Called under the registry's lock; ended() by the very thread, which gets no further
// signal of ours after it.
class ThreadListener {
 public:
  virtual ~ThreadListener() = default;
  // False if the engine can't follow it: no sample will ever stand for what it uses.
  virtual bool thread_started(const JavaThread& thread) = 0;
  virtual void thread_ended(const JavaThread& thread) = 0;
  // Shall it hear of the JVM's own threads as well? They end unseen: thread_ended() comes some time later.
  [[nodiscard]] virtual bool follows_jvm_threads() const { return false; }
};

class ThreadRegistry {
 public:
  explicit ThreadRegistry(Jvm& jvm);
  ~ThreadRegistry();

  // Before any event: what the JVM calls the fields that we read.
  Status prepare();
  // Hears of the threads that are there already, too. Must be removed before it goes.
  void add_listener(ThreadListener& listener);
  void remove_listener(ThreadListener& listener);  // nothing if it is none (any more)
  // Registers the threads that exist already; events must be on by now, so that none falls between.
  Status add_existing();

  // JVMTI callbacks, in the thread concerned.
  void on_start(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread);
  void on_end(jvmtiEnv* jvmti, JNIEnv* jni, jthread self);

  // Of the calling thread, 0 if it is not registered (yet, or any more). The lock is taken only if threads have come or
  // gone since this thread last asked.
  uint32_t serial_of_current();

  // Session thread. One of the JVM's own threads, for the listeners that follow those; 0 if there is none, or if it has
  // turned out to be Java's. `kind` must stay.
  uint32_t add_jvm_thread(pid_t tid, std::string name, std::string_view kind);
  void end_jvm_thread(uint32_t serial);
  [[nodiscard]] bool follows_jvm_thread(pid_t tid);

  // Session thread. By value: the thread may rename itself or end while we look.
  std::optional<JavaThread> find(uint32_t serial);
  std::optional<JavaThread> find_by_tid(pid_t tid);  // live ones
  // The last of those that have ended a moment ago, for Java: their native threads may still be at work.
  std::optional<JavaThread> find_ended_by_tid(pid_t tid);
  void mark_seen(uint32_t serial);
  [[nodiscard]] uint32_t newest_serial();
  // Reads again the names of threads that had events since the last call; answers those that changed.
  std::vector<JavaThread> refresh_names();
  // From now on those that have ended by now are the ended ones.
  void settle_ended();
  std::vector<JavaThread> ended();
  // Those that have started since the last call, ended or not.
  std::vector<JavaThread> take_started();
  // The ended ones are done with. Drops those of the previous call: nothing of theirs can still be in a ring.
  void forget_ended();

  // The JVM's own structure of a thread.
  [[nodiscard]] const char* java_thread_of(JNIEnv* jni) const noexcept {
    return reinterpret_cast<const char*>(jni) - fields_.env_offset;
  }

  // Our own threads are none of the application's. Any thread.
  void exclude(pid_t tid);
  void include_again(pid_t tid);

  // Of any thread; 0 if it has ended.
  [[nodiscard]] Address java_thread_of(JNIEnv* jni, jthread thread) const {
    return static_cast<Address>(jni->GetLongField(thread, fields_.eetop));
  }

  // What JavaThread::java_id is, of a thread that the JVM has shown us.
  [[nodiscard]] int64_t java_id_of(JNIEnv* jni, jthread thread) const { return jni->GetLongField(thread, fields_.tid); }

 private:
  struct Fields {
    jfieldID eetop = nullptr;  // JavaThread*
    jfieldID tid = nullptr;    // Thread.getId()
    ptrdiff_t env_offset = 0;  // from a JavaThread* to its JNIEnv
  };
  JavaThread describe(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread, pid_t tid, void* env) const;
  // Both answer a global reference that is not needed any more, to be deleted when the lock is no longer held.
  jobject add_locked(JavaThread entry);
  jobject end_locked(JavaThread& thread);
  void end_jvm_thread_locked(JavaThread& thread);
  [[nodiscard]] bool is_excluded(pid_t tid);
  static std::string name_of(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread);
  static void name(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread, JavaThread& out);

  Jvm& jvm_;
  Fields fields_;
  hotspot::ThreadLayout layout_;
  std::vector<ThreadListener*> listeners_;

  std::array<uint32_t, 256>
      marked_{};  // session thread: serials of those that are marked as seen already, some of them

  std::mutex lock_;
  std::unordered_set<pid_t> excluded_;
  std::atomic<uint64_t> era_;  // changes when a thread comes or goes; no two registries share one
  uint32_t next_serial_ = 1;
  std::unordered_map<uint32_t, std::unique_ptr<JavaThread>> threads_;
  std::unordered_map<pid_t, JavaThread*> live_;
  std::unordered_map<pid_t, JavaThread*> live_of_jvm_;
  // By their ids in Java, until the session has begun: the JVM lists a thread for a moment longer.
  std::unordered_set<int64_t> ended_at_start_;
  bool starting_ = true;
  std::vector<uint32_t> started_;
  std::vector<uint32_t> ended_, ended_settled_, ended_before_;
  const linux::ThreadUsages usages_;
};

}  // namespace tarsier::agent
