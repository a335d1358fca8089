// What an engine is: it finds out whether it can work here, starts, is drained by the session thread, and stops.
// Engines own their state; nothing is shared between them that is not in the context.
#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agent/jvm.h"
#include "agent/method_names.h"
#include "agent/thread_registry.h"
#include "base/result.h"
#include "base/units.h"
#include "control/messages.h"
#include "control/options.h"
#include "linux/kernel_parts.h"
#include "linux/wait_parts.h"
#include "recording/writer.h"

namespace tarsier::agent {

// A class file that the JVM is about to take.
struct ClassFile {
  jvmtiEnv* jvmti;
  jclass redefined;  // null: it is loaded for the first time
  const char* name;
  const unsigned char* bytes;
  jint size;
  // What it shall take instead.
  jint* new_size;
  unsigned char** new_bytes;
};

struct EngineContext {
  Jvm& jvm;
  ThreadRegistry& threads;
  MethodNames& methods;
  recording::Writer& writer;
  const control::SessionOptions& options;
  // To be called now and then by whoever writes many samples at once: the file is flushed if their names have become
  // too much for the memory that was granted.
  std::function<void()> make_room;
  // Code compiled up to this id may carry imprecise debug information.
  int32_t imprecise_until_compile_id = 0;
  // In probe(): what the JVM's user has no right to make the command may make for it.
  std::function<Result<linux::KernelParts>(const linux::bpf::JavaLayout& layout, size_t ring_bytes)>
      borrow_kernel_parts;
  std::function<Result<linux::WaitParts>(const linux::bpf::JavaLayout& layout, const linux::WaitMemory& memory)>
      borrow_wait_parts;
  bool implied_clock_failed = false;  // a clock that nobody has named, see implied_clock()
};

struct EngineStats {
  uint64_t taken = 0, written = 0, failed = 0;
  std::map<std::string, uint64_t> dropped;
  std::map<std::string, int64_t> counters;
  Nanos in_app_threads;
  Bytes memory;
  std::string hottest;
  double hottest_share = 0;

  // What was decoded, but is not in the file.
  void take_off_unwritten(const recording::Writer& writer, std::initializer_list<recording::Event> events) {
    uint64_t lost = 0, unread = 0;
    for (const recording::Event event : events) {
      lost += writer.lost_events(event);
      unread += writer.unread_events(event);
    }
    dropped["disk error"] = lost;
    if (unread > 0) dropped["not read by the live view"] = unread;
    written -= lost + unread;
  }
  [[nodiscard]] uint64_t dropped_in_all() const {
    uint64_t sum = 0;
    for (const auto& [cause, count] : dropped) sum += count;
    return sum;
  }
};

class Engine {
 public:
  virtual ~Engine() = default;
  // Chooses the mechanism; nothing in the JVM is changed yet.
  virtual Result<control::EngineReport> probe() = 0;
  virtual Status start() = 0;
  // Session thread: decodes what has been captured since the last call, kPiece records at most: between two calls the
  // session may flush, if the names in them were too much for its memory. True: there was more.
  virtual bool drain() = 0;
  static constexpr size_t kPiece = 16;
  // How long what is captured from now on may wait: the more is decoded at once, the less a sample costs, since a JVM's
  // tables are not in the processor's cache when we come to them.
  [[nodiscard]] virtual Nanos patience() const { return millis(20); }
  // Session thread, about once a second, before the file is flushed: what drain() put off for being dear.
  virtual void settle() {}
  // Any thread: no capture any more when it returns, whatever the session's thread is doing. The JVM is about to go.
  virtual void silence() {}
  // No capture any more when it returns, and the last of it drained.
  virtual void stop() = 0;
  [[nodiscard]] virtual EngineStats stats() = 0;
  // For the console: what a user should know about how it runs.
  [[nodiscard]] virtual std::vector<std::string> warnings() { return {}; }

  [[nodiscard]] virtual std::string_view name() const = 0;
  // Others go on without it if it can't run, and the recording says so.
  [[nodiscard]] virtual bool dispensable() const { return false; }
  // Its samples may show any instruction, and need debug information about all of them.
  [[nodiscard]] virtual bool samples_anywhere() const { return false; }
  // What ended the capture before the session's end and what is missing therefore; empty if nothing did.
  [[nodiscard]] virtual std::string missing() { return {}; }

  // JVMTI events that an engine has asked for, in the thread concerned.
  virtual void on_class_prepare(jvmtiEnv*, jclass) {}
  virtual void on_sampled_object(jvmtiEnv*, JNIEnv*, jclass, jlong /*size*/) {}
  virtual void on_monitor_enter(jvmtiEnv*, JNIEnv*, jobject) {}
  virtual void on_monitor_entered(jvmtiEnv*, JNIEnv*, jobject) {}
  virtual void on_monitor_wait(jvmtiEnv*, JNIEnv*, jobject) {}
  virtual void on_class_file(const ClassFile&) {}
};

}  // namespace tarsier::agent
