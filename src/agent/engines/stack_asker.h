// The part of an engine that asks JVMTI for stacks, on threads of its own.
#pragma once

#include <sched.h>
#include <unistd.h>

#include <atomic>

#include "agent/engines/engine.h"
#include "agent/engines/latencies.h"
#include "agent/thread_registry.h"
#include "base/sigsafe/gate.h"

namespace tarsier::agent {

class StackAsker : public ThreadListener {
 public:
  // Threads that start from now on are told to it. An error leaves no thread of ours behind.
  virtual Status start() = 0;
  // Session thread: when it returns nobody is asked any more, and its threads have ended.
  virtual void stop() noexcept = 0;
  virtual void add_to(EngineStats& stats) const = 0;

  // Any thread: when it returns nobody is asked any more, though its threads may still be there.
  void hush() noexcept {
    hushed_.store(true, std::memory_order_seq_cst);  // see Gate
    for (int i = 0; !gate_.quiet(); ++i) {
      if (i < 100) {
        ::sched_yield();
      } else {
        ::usleep(1000);
      }
    }
  }

 protected:
  // While it lives the JVM may be asked, if it may at all.
  class Asking {
   public:
    Asking(StackAsker& asker, uint32_t key) : asker_(asker), key_(key) {
      asker.gate_.enter(key);
      allowed_ = !asker.hushed_.load(std::memory_order_seq_cst);
    }
    ~Asking() { asker_.gate_.leave(key_); }
    Asking(const Asking&) = delete;
    Asking& operator=(const Asking&) = delete;
    explicit operator bool() const { return allowed_; }

   private:
    StackAsker& asker_;
    const uint32_t key_;
    bool allowed_;
  };

  void add_latencies_to(EngineStats& stats) const {
    stats.counters["latency p50 (ns)"] = latencies_.percentile(50).count;
    stats.counters["latency p90 (ns)"] = latencies_.percentile(90).count;
    stats.counters["latency p99 (ns)"] = latencies_.percentile(99).count;
    stats.counters["latency max (ns)"] = latencies_.longest().count;
  }

  Latencies latencies_;  // from asking to having the stack

 private:
  Gate gate_;
  std::atomic<bool> hushed_{false};
};

}  // namespace tarsier::agent
