// Waiting for what others are about to do. Not for handlers.
#pragma once

#include <sched.h>
#include <unistd.h>

#include "base/sigsafe/gate.h"

namespace tarsier {

template <class Condition>
void wait_until(const Condition& condition) {
  // Short, as a rule; but a debugger may have suspended a thread in the middle.
  constexpr int kSoon = 100;
  for (int i = 0; !condition(); ++i) {
    if (i < kSoon) {
      ::sched_yield();
    } else {
      ::usleep(1000);
    }
  }
}

// Nobody is behind the gate any more.
inline void wait_until_quiet(const Gate& gate) {
  wait_until([&] { return gate.quiet(); });
}

}  // namespace tarsier
