// What the hooks of the lock engine have seen of a thread, whether they had a capture or not: for their trial.
#pragma once

#include <cstdint>

namespace tarsier::agent {

struct LockSeen {
  uint64_t releases, parks, unparks;               // how many
  uint64_t released, waited, notified, reentered;  // the last monitor with which each of these happened
  uint64_t slept_on, signalled;                    // the last condition variable
};
LockSeen locks_seen_by_this_thread();

}  // namespace tarsier::agent
