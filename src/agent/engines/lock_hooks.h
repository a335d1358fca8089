// The hooks of the lock engine: functions of the JVM through which monitors are released and threads are parked, led to
// functions of ours that call the original and tell the capture.
#pragma once

#include <jvmti.h>

#include <optional>
#include <string>
#include <vector>

#include "agent/engines/lock_capture.h"
#include "agent/engines/lock_functions.h"
#include "agent/engines/lock_seen.h"
#include "agent/engines/lock_signals.h"
#include "base/result.h"
#include "linux/function_hook.h"

namespace tarsier::agent {

// How the functions are found, the best first: by their names, or, where these were stripped, by what the functions do
// (lock_functions.h). Without any of them releases are seen by those whom they wake up (lock_signals.h).
enum class LockWay : uint8_t { kSymbols, kProbes, kExports, kSignals };

class LockHooks {
 public:
  // Functions of native methods, which the JVM itself tells; 0: it did not.
  struct Natives {
    uint64_t park = 0, unpark = 0;
  };
  // Finds the functions; nothing is changed yet. Fails if those without which no owner can be told are not there;
  // kNotFound: their names are not.
  static Result<LockHooks> prepare(LockWay way, const Natives& natives);
  // At most one at a time is on. Without a capture they only count.
  Status put_on(LockCapture* capture, jvmtiEnv* jvmti);
  // From now on the JVM calls its own functions, and nobody is in the capture any more when it returns. Threads that
  // are parked stay so, in our function, which knows of no capture when they come back.
  Status take_off();

  // Leaves out what Object.wait needs: it did not stand its trial.
  void forget_waiting();

  [[nodiscard]] bool has_signals_only() const { return signals_.has_value(); }
  [[nodiscard]] bool sees_parking() const { return has(LockRole::kPark) && has(LockRole::kUnpark); }
  [[nodiscard]] bool sees_waiting() const { return has(LockRole::kWait); }
  [[nodiscard]] bool sees_unlocking() const { return has(LockRole::kUnlock); }  // by compiled code
  // Offset in a JavaThread; 0: this JVM has none, or it was not found.
  [[nodiscard]] uint64_t unlocked_monitor() const { return unlocked_monitor_; }
  // For the recording: what is hooked.
  [[nodiscard]] std::string names() const;

 private:
  struct Hook {
    LockRole role;
    linux::FunctionHook function;
    uint64_t replacement;
    std::string name;
  };
  LockHooks() = default;
  [[nodiscard]] bool has(LockRole role) const;

  std::vector<Hook> hooks_;
  std::optional<LockSignals> signals_;
  uint64_t unlocked_monitor_ = 0;
};

}  // namespace tarsier::agent
