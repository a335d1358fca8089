// The last resort for who releases monitors: a thread that is blocked sleeps on a condition variable of its own, and
// whoever releases the monitor signals it. The JVM's calls of pthread_cond_wait, _timedwait and _signal are led to
// ours.
//
// That is seen only when the monitor has been released already, and only if somebody has gone to sleep by then.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "linux/import_hook.h"
#include "linux/loaded_library.h"

namespace tarsier::agent {

// Who uses it opens the door to the capture before (lock_visit.h).
class LockSignals {
 public:
  static Result<LockSignals> prepare(const linux::LoadedLibrary& libjvm);
  Status put_on();
  Status take_off();
  [[nodiscard]] std::string names() const;

 private:
  std::vector<std::pair<linux::ImportHook, uint64_t>> hooks_;  // and their replacements
};

}  // namespace tarsier::agent
