// Tells of threads that begin and end: jdk.ThreadStart, jdk.ThreadEnd. Session thread.
#pragma once

#include "agent/thread_registry.h"
#include "recording/writer.h"

namespace tarsier::agent {

class ThreadLives {
 public:
  ThreadLives(ThreadRegistry& threads, recording::Writer& writer) : threads_(threads), writer_(writer) {}
  // Before those that have ended are forgotten.
  void update();

 private:
  ThreadRegistry& threads_;
  recording::Writer& writer_;
};

}  // namespace tarsier::agent
