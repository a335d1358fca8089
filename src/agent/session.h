// One recording, from attach to the finished file. It lives on a thread of its own; nothing of it remains afterwards.
#pragma once

#include <jni.h>
#include <jvmti.h>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "agent/cpu_account.h"
#include "agent/debug_info.h"
#include "agent/engines/engine.h"
#include "agent/jvm.h"
#include "agent/jvm_pauses.h"
#include "agent/thread_lives.h"
#include "agent/thread_registry.h"
#include "base/unique_fd.h"
#include "control/channel.h"
#include "control/options.h"
#include "recording/writer.h"

namespace tarsier::agent {

class Session {
 public:
  // `debug_info` if it was switched on earlier, at the start of the JVM.
  Session(JavaVM* vm, control::AgentString options, std::unique_ptr<PreciseDebugInfo> debug_info);
  ~Session();

  // The whole life, on the session's thread. Prints to stderr only when there is no command to tell.
  void run();

  // JVMTI callbacks, in the thread concerned.
  void on_thread_start(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread);
  void on_thread_end(jvmtiEnv* jvmti, JNIEnv* jni, jthread thread);
  void on_class_prepare(jvmtiEnv* jvmti, jclass klass);
  void on_sampled_object(jvmtiEnv* jvmti, JNIEnv* jni, jclass klass, jlong size);
  void on_monitor_enter(jvmtiEnv* jvmti, JNIEnv* jni, jobject object);
  void on_monitor_entered(jvmtiEnv* jvmti, JNIEnv* jni, jobject object);
  void on_monitor_wait(jvmtiEnv* jvmti, JNIEnv* jni, jobject object);
  void on_class_file(const ClassFile& file);
  void on_collection_start();
  void on_collection_finish();
  // Waits until the session has started, or failed to: what the program does first is then recorded too.
  void wait_until_started();
  // Asks the session to finish and waits until it has let go of the JVM.
  // False if it does not come to an end; then at least silence() it.
  bool on_vm_death();
  void silence();

 private:
  void record();
  Status prepare();
  Status connect();
  Status open_own_file();
  Status start();
  Status probe_engines();
  Status start_engines();
  [[nodiscard]] bool samples_anywhere() const;
  void follow_turns();
  // If the others can do without this engine, its report says why it does not run; otherwise the error is ours too.
  Status go_on_without(const Engine& engine, control::EngineReport& report, const Error& error) const;
  void loop();
  bool should_stop();
  [[nodiscard]] bool must_flush_early() const;
  void housekeeping(bool last);
  void flush();
  void write_stats();
  void write_stats_of(std::string_view engine, const EngineStats& stats, Nanos now);
  void write_session_events();
  void write_engine_used(const control::EngineReport& report);
  [[nodiscard]] std::vector<std::string> warnings();
  [[nodiscard]] std::string what_is_missing();
  void finish();
  void let_go();
  void fail(const Error& error);
  void give_up(const char* why);

  JavaVM* const vm_;
  JNIEnv* jni_ = nullptr;
  control::AgentString options_;
  const bool attached_;  // to a running JVM
  std::string file_name_;
  Bytes most_on_disk_;
  unique_fd file_;
  unique_fd wake_;
  std::optional<control::Channel> channel_;

  std::unique_ptr<Jvm> jvm_;
  std::unique_ptr<ThreadRegistry> threads_;
  std::unique_ptr<PreciseDebugInfo> debug_info_;
  std::unique_ptr<recording::Writer> writer_;
  std::unique_ptr<MethodNames> methods_;
  std::optional<EngineContext> context_;
  std::vector<std::unique_ptr<Engine>> engines_;
  std::vector<control::EngineReport> reports_;  // of engines_, in their order
  std::unique_ptr<CpuAccount> cpu_;
  std::unique_ptr<JvmPauses> pauses_;
  std::string no_turns_;  // why it is not known who is on which CPU, if that was asked for
  std::unique_ptr<ThreadLives> lives_;

  Nanos started_at_, next_flush_;
  Bytes memory_after_flush_;  // of the writer
  std::string disk_error_;
  std::vector<std::string> warned_;  // what the command has been told
  Nanos ends_at_;                    // 0: open
  std::atomic<bool> vm_dies_{false};

  void reached(bool Session::*milestone);
  [[nodiscard]] bool wait_for(bool Session::*milestone, Nanos patience);
  std::mutex milestone_lock_;
  std::condition_variable milestone_reached_;
  bool started_ = false;  // or failed
  bool done_ = false;
};

}  // namespace tarsier::agent
