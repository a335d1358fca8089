// The JVM's own threads, its collectors, compilers and the rest, which no event tells of: they are found by looking.
// Session thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <unordered_map>

#include "agent/thread_registry.h"
#include "base/units.h"

namespace tarsier::agent {

class JvmThreads {
 public:
  explicit JvmThreads(ThreadRegistry& threads) : threads_(threads) {}

  // As often as you like: looks ten times a second at most, and less if that would take more than a hundredth of the
  // time. Those that are new are told to the registry, as are those that are gone.
  void look_if_due();
  void look();

 private:
  struct Known {
    uint32_t serial = 0;  // 0: none of the JVM's, or nobody follows it
    Nanos cpu;            // less than before: another thread with the same id
    bool seen = false;
    bool named = false;  // its name is its own
  };

  ThreadRegistry& threads_;
  std::unordered_map<pid_t, Known> known_;
  Nanos next_;
};

}  // namespace tarsier::agent
