// Waits until no thread of this process can still be where it was.
#pragma once

#include "base/units.h"

namespace tarsier::linux {

// True once every other thread has run for a while since the call, or was seen asleep twice, or is gone: whatever
// single instruction it was about to execute, it has. False if some thread got no CPU for so long.
bool threads_moved_on(Nanos patience) noexcept;

}  // namespace tarsier::linux
