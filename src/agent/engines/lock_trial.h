// Whether the hooks of the lock engine see what they are for: tried on a lock of our own, before they are trusted.
#pragma once

#include "agent/engines/engine.h"
#include "agent/engines/lock_hooks.h"
#include "base/result.h"

namespace tarsier::agent {

// Session thread, attached; while the hooks are on.
// A monitor that another thread of ours is blocked by is released: is the release seen, and of that monitor?
// `pending_monitor`: where a JavaThread has the one that it is blocked by; 0: that is not known.
Status try_monitor(EngineContext& context, uint64_t pending_monitor);
// Another thread of ours waits for a monitor and is notified: is that seen, of one and the same monitor?
Status try_waiting(EngineContext& context);
// Of hooks that see only who is woken up: is it seen that another thread of ours sleeps for a monitor, and is woken up?
Status try_signals(EngineContext& context);
// The thread unparks itself and parks: are both seen?
Status try_parking(EngineContext& context);

}  // namespace tarsier::agent
