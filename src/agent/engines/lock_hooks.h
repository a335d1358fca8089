// The hooks of the lock engine: functions of the JVM through which monitors are released and threads are parked, led to
// functions of ours that call the original and tell the capture.
#pragma once

#include <jvmti.h>

#include <string>
#include <vector>

#include "agent/engines/lock_capture.h"
#include "base/result.h"
#include "linux/function_hook.h"

namespace tarsier::agent {

class LockHooks {
 public:
  // Finds the functions; nothing is changed yet. Fails if those without which no owner can be told are not there.
  static Result<LockHooks> prepare();
  // At most one at a time is on. Without a capture they only count.
  Status put_on(LockCapture* capture, jvmtiEnv* jvmti);
  // From now on the JVM calls its own functions, and nobody is in the capture any more when it returns. Threads that
  // are parked stay so, in our function, which knows of no capture when they come back.
  Status take_off();

  // What the hooks have seen of the calling thread, whether they had a capture or not.
  struct Seen {
    uint64_t releases, parks, unparks;
  };
  static Seen seen_by_this_thread();

  [[nodiscard]] bool sees_parking() const { return sees_parking_; }
  // Offset in a JavaThread; 0: this JVM has none, or it was not found.
  [[nodiscard]] uint64_t unlocked_monitor() const { return unlocked_monitor_; }
  // For the recording: what is hooked.
  [[nodiscard]] const std::string& names() const { return names_; }

 private:
  struct Hook {
    linux::FunctionHook function;
    uint64_t replacement;
  };
  LockHooks() = default;

  std::vector<Hook> hooks_;
  std::string names_;
  bool sees_parking_ = false;
  uint64_t unlocked_monitor_ = 0;
};

}  // namespace tarsier::agent
