// Waiting until nobody is behind a gate any more. Not for handlers.
#pragma once

#include <sched.h>
#include <unistd.h>

#include "base/sigsafe/gate.h"

namespace tarsier {

inline void wait_until_quiet(const Gate& gate) {
  // Short, as a rule; but a debugger may have suspended a thread in the middle.
  constexpr int kSoon = 100;
  for (int i = 0; !gate.quiet(); ++i) {
    if (i < kSoon) {
      ::sched_yield();
    } else {
      ::usleep(1000);
    }
  }
}

}  // namespace tarsier
