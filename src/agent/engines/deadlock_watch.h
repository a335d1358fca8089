// Looks for deadlocks while a session records, and writes what it finds. Session thread.
#pragma once

#include <cstdint>

#include "agent/engines/deadlock_finder.h"
#include "agent/engines/deadlock_waits.h"
#include "agent/engines/jvmti_stacks.h"

namespace tarsier::agent {

class DeadlockWatch {
 public:
  DeadlockWatch(EngineContext& context, LockThreads& threads, const LockLayout& locks);

  // To be called at the start, about once a second, and at the end.
  void begin();
  void look_if_due();
  void end();

  struct Counts {
    uint64_t looks = 0, found = 0;
    Nanos cpu;
  };
  [[nodiscard]] const Counts& counts() const { return counts_; }

 private:
  void look();
  void write(const DeadlockCycle& cycle);
  recording::ThreadId thread_of(int64_t java_id);
  recording::StackId stack_of(int64_t java_id);

  EngineContext& context_;
  LockThreads& threads_;
  JvmWaits waits_;
  DeadlockFinder finder_;
  JvmtiStacks stacks_;
  Nanos next_look_;
  Counts counts_;
};

}  // namespace tarsier::agent
