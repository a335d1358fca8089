// Whether the hooks of the lock engine see what they are for: tried on a lock of our own, before they are trusted.
#pragma once

#include "agent/engines/engine.h"
#include "agent/engines/lock_hooks.h"
#include "base/result.h"

namespace tarsier::agent {

// Session thread, attached; while the hooks are on.
// A monitor that another thread of ours is blocked by is released: is the release seen?
Status try_monitor(EngineContext& context);
// The thread unparks itself and parks: are both seen?
Status try_parking(EngineContext& context);

}  // namespace tarsier::agent
