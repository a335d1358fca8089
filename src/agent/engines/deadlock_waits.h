// Who waits for which lock, and who holds it, as the JVM lets us see from our own thread while all others run. Reads
// memory of the JVM (which may fail, never fault), and fields of Java objects; runs no Java code and suspends nobody.
//
// Virtual threads are not among those that it looks at.
#pragma once

#include <jvmti.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/engines/deadlock_finder.h"
#include "agent/engines/engine.h"
#include "agent/engines/lock_capture.h"

namespace tarsier::agent {

// Where the JVM keeps what is not in LockLayout. 0: it does not tell.
struct WaitLayout {
  uint64_t pending_monitor = 0;  // of a JavaThread: which it wants to enter
  uint64_t waiting_monitor = 0;  // of a JavaThread: which it waits on, and comes back to
  uint64_t object = 0;           // of an ObjectMonitor; 0 also if we may not use it
  bool object_is_handle = false;

  static WaitLayout find(const Jvm& jvm);
};

class JvmWaits final : public WaitSource {
 public:
  JvmWaits(EngineContext& context, LockThreads& threads, const LockLayout& locks);
  ~JvmWaits() override { forget_threads(); }

  std::vector<LockWait> all() override;
  std::optional<LockWait> of(int64_t thread) override;
  // Some owner would have taken a safepoint to find out, which is left until a thread has waited for two looks.
  [[nodiscard]] bool put_off() const { return put_off_; }

  struct Lock {
    std::string class_name;  // empty: not known (any more)
    int32_t identity = 0;
  };
  // Until forget_threads().
  Lock lock_of(const LockWait& wait);
  // Null if all() did not name it.
  [[nodiscard]] jthread thread(int64_t id) const;
  void forget_threads();

 private:
  std::optional<LockWait> wait_of(jthread thread);
  std::optional<LockWait> monitor_wait(jthread thread, int64_t id);
  std::optional<LockWait> park_wait(jthread thread, int64_t id);
  [[nodiscard]] uint64_t monitor_of(jthread thread) const;
  // 0: not known. `owner_word`: what the JVM keeps of it in the monitor.
  int64_t owner_of(uint64_t monitor, uint64_t owner_word, jthread waiting, int64_t waiting_id);
  int64_t ask_for_owner(uint64_t monitor, jthread waiting);
  jobject object_of(uint64_t monitor, jthread waiting);
  Lock describe(jobject object);

  EngineContext& context_;
  LockThreads& threads_;
  const LockLayout locks_;
  const WaitLayout layout_;
  std::map<int64_t, jthread> waiting_;             // local references
  std::map<int64_t, uint64_t> monitors_, before_;  // by thread: at this look and at the one before
  std::map<uint64_t, int64_t> asked_;              // at this look: the owners of monitors
  bool put_off_ = false;
};

}  // namespace tarsier::agent
