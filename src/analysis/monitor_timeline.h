// Who held a monitor when, in one period of contention: worked out from all that was seen of it.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/contention.h"

namespace tarsier::analysis {

struct MonitorEvent {
  enum class Kind : uint8_t {
    kSeen,      // somebody who began to block saw that `thread` held it
    kEntered,   // `thread` was blocked, and now holds it
    kReleased,  // `thread` held it until then
  };
  int64_t time_ns = 0;
  int64_t sequence = 0;
  Kind kind = Kind::kSeen;
  ThreadIndex thread{};
  StackIndex stack{};  // of a release, or of an entering, if that shall stand for a release that is missing
  ThreadIndex next_owner = kNobody;  // of a release
  ThreadIndex last_owner = kNobody;  // of an entering: who held it before
};

// From there on until the next one's begin; the last one has no end, the first one begins before all times.
struct Holding {
  int64_t begin_ns = INT64_MIN;
  Owner owner{};
};

// In any order, with duplicates, with events missing. Takes `events` apart. The result is never empty.
std::vector<Holding> holdings_of(std::vector<MonitorEvent>& events);

}  // namespace tarsier::analysis
