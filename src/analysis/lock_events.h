// What a recording says about locks, in columns, as it was recorded: who was blocked, and who released. What follows
// from it is worked out by contentions.h.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/samples.h"
#include "base/units.h"

namespace tarsier::analysis {

using MethodIndex = Id<struct ModelMethodTag>;
using LockIndex = Id<struct ModelLockTag>;

constexpr ThreadIndex kNobody(UINT32_MAX);  // no thread, or one that is not known
constexpr LockIndex kNoLock(UINT32_MAX);

// An object that threads lock, or park on. Recordings of JFR itself know its address only, which may change.
struct LockObject {
  MethodIndex klass{};
  int64_t identity = 0;
  bool operator==(const LockObject&) const = default;
};

// One period in which a monitor was contended. Those of one monitor follow each other, and so do their numbers.
struct MonitorPeriod {
  LockIndex lock{};
  int64_t generation = 0;
  bool operator==(const MonitorPeriod&) const = default;
};

// Times are ns since the epoch, ends not before begins. Sequence 0: has none. A stack of 0: there is none.
struct MonitorEnter {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  int64_t sequence = 0;  // of the end
  MonitorPeriod period{};
  ThreadIndex thread{};
  StackIndex stack{};
  ThreadIndex previous_owner = kNobody;
  // JFR itself names the one who held it last; we name the one who held it when the thread began to block.
  bool previous_at_end = false;
  bool after_wait = false;
  bool entered = true;  // else it was still blocked when the recording ended
};

struct MonitorExit {
  int64_t time_ns = 0;
  int64_t sequence = 0;
  MonitorPeriod period{};
  ThreadIndex thread{};
  StackIndex stack{};
  ThreadIndex next_owner = kNobody;
};

// Sequences are of all parks and unparks, in the order in which they happened; 0: it is not known.
struct ThreadPark {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  int64_t sequence = 0;
  int64_t end_sequence = 0;  // 0: also if it was still parked when the recording ended
  LockIndex blocker = kNoLock;
  ThreadIndex thread{};
  StackIndex stack{};
  ThreadIndex owner = kNobody;
  LockIndex condition_of = kNoLock;  // the lock that the condition it parked on belongs to; none: it was no condition
  uint32_t number = 0;               // of all parks and unparks, in the order of the file, without gaps; 0: it has none
};

struct Unpark {
  int64_t time_ns = 0;
  int64_t sequence = 0;
  ThreadIndex thread{};
  StackIndex stack{};
  ThreadIndex target{};
  uint32_t number = 0;  // as that of a park
};

// A lock that several may hold, while others waited for it. From before: it is not known since when.
struct LockHold {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  LockIndex lock{};
  ThreadIndex thread{};
  StackIndex stack{};  // of the release
  bool from_before = false;
};

struct LockEvents {
  std::vector<LockObject> locks;
  std::vector<MonitorEnter> enters;
  std::vector<MonitorExit> exits;
  std::vector<ThreadPark> parks;
  std::vector<Unpark> unparks;
  std::vector<LockHold> holds;
  // Of large recordings, how many were analysed while they were read, and are not in the columns any more.
  struct Counts {
    uint64_t enters = 0, exits = 0, parks = 0, unparks = 0, holds = 0;
    [[nodiscard]] uint64_t all() const { return enters + exits + parks + unparks + holds; }
  };
  Counts taken;

  [[nodiscard]] size_t in_columns() const {
    return enters.size() + exits.size() + parks.size() + unparks.size() + holds.size();
  }
  [[nodiscard]] bool complete() const { return taken.all() == 0; }
  [[nodiscard]] bool has_parks() const { return !parks.empty() || taken.parks > 0; }
  [[nodiscard]] bool has_enters() const { return !enters.empty() || taken.enters > 0; }
  [[nodiscard]] bool empty() const { return !has_enters() && !has_parks(); }
  // Without them it is only known who was blocked.
  [[nodiscard]] bool has_owners() const {
    return !exits.empty() || !unparks.empty() || taken.exits > 0 || taken.unparks > 0;
  }
};

}  // namespace tarsier::analysis
