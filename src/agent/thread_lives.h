// Tells of threads that begin and end: jdk.ThreadStart, jdk.ThreadEnd. Session thread.
#pragma once

#include <span>

#include "agent/thread_registry.h"
#include "recording/writer.h"

namespace tarsier::agent {

class ThreadLives {
 public:
  ThreadLives(ThreadRegistry& threads, recording::Writer& writer) : threads_(threads), writer_(writer) {}
  // `ended`: since the last call.
  void update(std::span<const JavaThread> ended);

 private:
  ThreadRegistry& threads_;
  recording::Writer& writer_;
};

}  // namespace tarsier::agent
