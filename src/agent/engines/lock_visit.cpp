#include "agent/engines/lock_visit.h"

namespace tarsier::agent {

LockDoor g_lock_door;
constinit thread_local LockDepth t_lock_depth{};

LockSeen locks_seen_by_this_thread() {
  return t_lock_depth.seen;
}

}  // namespace tarsier::agent
