// Which events of the columns have been analysed, and are needed no more.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/lock_events.h"

namespace tarsier::analysis {

struct SettledEvents {
  std::vector<bool> enters, exits, parks, unparks, holds;  // by index

  void start(const LockEvents& events) {
    enters.assign(events.enters.size(), false);
    exits.assign(events.exits.size(), false);
    parks.assign(events.parks.size(), false);
    unparks.assign(events.unparks.size(), false);
    holds.assign(events.holds.size(), false);
  }
  void take_out_of(LockEvents& events) const {
    events.taken.enters += remove(events.enters, enters);
    events.taken.exits += remove(events.exits, exits);
    events.taken.parks += remove(events.parks, parks);
    events.taken.unparks += remove(events.unparks, unparks);
    events.taken.holds += remove(events.holds, holds);
  }

 private:
  template <class Event>
  static uint64_t remove(std::vector<Event>& events, const std::vector<bool>& settled) {
    size_t kept = 0;
    for (size_t i = 0; i < events.size(); ++i) {
      if (!settled[i]) events[kept++] = events[i];
    }
    const uint64_t removed = events.size() - kept;
    events.resize(kept);
    return removed;
  }
};

// Until when what was recorded is known.
struct Horizon {
  int64_t complete_ns = INT64_MAX;  // every event until then has come
  int64_t final_ns = INT64_MAX;     // and nothing that comes will change what happened until then
  [[nodiscard]] bool end() const { return complete_ns == INT64_MAX; }
};

}  // namespace tarsier::analysis
