// How much of a recording is kept in mind while its locks are analysed, and what did not fit into that.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/units.h"

namespace tarsier::analysis {

// A recording is not in the order of time: threads hand in their events when their buffers are full, or about a second
// old, and whoever was blocked is told of at the end. So nothing is final before some time has passed, and what was
// found out about a lock is kept for those who have been blocked for long.
struct LockLimits {
  Nanos lateness = seconds(3);  // of an event, behind others in the file
  Nanos wake_up = seconds(1);   // from an unpark to the end of the park
  size_t whole = 2'000'000;     // recordings with no more events than that are analysed as a whole, at their end
  size_t pending = 8'000'000;   // events that are not final yet
  size_t changes = 4'000'000;   // changes of owners that are kept for those who are still blocked
};

struct LockAccount {
  uint64_t late = 0;       // events that came later than that: what they tell came too late for others
  uint64_t forgotten = 0;  // contentions that began before what is kept: [unknown owner] until there
  uint64_t uncut = 0;      // contentions for whose pieces the budget had no room: [unknown owner]
};

}  // namespace tarsier::analysis
