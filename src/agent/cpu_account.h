// The kernel's account of every thread's CPU time, sampled or not: what GC, JIT and VM threads take must show.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <unordered_map>

#include "agent/thread_registry.h"
#include "base/units.h"
#include "recording/writer.h"

namespace tarsier::agent {

// gc, jit, vm, tarsier or other, from the first 15 characters of a native thread's name.
std::string_view kind_of_native_thread(std::string_view name);

class CpuAccount {
 public:
  CpuAccount(ThreadRegistry& threads, recording::Writer& writer) : threads_(threads), writer_(writer) {}
  // Once before the first engine starts, then about once a second and at the end: writes a tarsier.ThreadCpu for each
  // thread that has used CPU time since the last call.
  void update();
  // Of our own threads, all of which are called tarsier or tarsier-something.
  [[nodiscard]] Nanos own_cpu() const { return own_cpu_; }

 private:
  struct Entry {
    Nanos at_start, last;
    std::string name;
    std::string_view kind;
    // Who it is, or last was, in Java: a native thread outlives the Java thread that it carried (main, when it destroys
    // the JVM) or carries another one.
    int64_t java_id = 0;
    bool sampled = false;
    recording::ThreadId id;
    uint64_t generation = ~uint64_t{0};  // of the writer, which gave out the id
  };
  void identify(pid_t tid, Entry& entry);
  void account_for_ends(Nanos process_cpu);
  void write(const Entry& entry);

  ThreadRegistry& threads_;
  recording::Writer& writer_;
  bool first_ = true;
  Nanos own_cpu_;
  Nanos process_cpu_at_start_;
  Nanos known_;  // of all threads, since the start
  // What threads have used after they had ended for Java, until the kernel had taken them down; and others after we had
  // last seen them. Much, if threads live for less than a millisecond.
  Entry after_ends_;
  std::unordered_map<pid_t, Entry> entries_;
};

}  // namespace tarsier::agent
