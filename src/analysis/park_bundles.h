// Parks and unparks brought together, thread by thread: what ended each park, and when each blocker was released by
// whom.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/grouping.h"
#include "analysis/lock_code.h"
#include "analysis/lock_limits.h"
#include "analysis/settled_events.h"

namespace tarsier::analysis {

struct BundledPark {
  ThreadPark park;
  bool unparked = false;        // ended by an unpark,
  int64_t unpark_sequence = 0;  // with this number,
  int64_t unpark_ns = 0;        // then
};

// An unpark let somebody go on who was waiting for this blocker.
struct Release {
  int64_t sequence = 0;
  int64_t time_ns = 0;
  LockIndex lock{};
  ThreadIndex thread{};
  StackIndex stack{};
  int64_t held_since_ns = INT64_MIN;  // its own last park for that lock ended then; INT64_MIN: none that is known
};

class ParkBundles {
 public:
  ParkBundles(const LockCode& code, LockAccount& account) : code_(code), account_(account) {}

  // Appends the parks that are complete, and the releases that follow from them.
  void settle(const LockEvents& events, Horizon horizon, SettledEvents& settled, std::vector<BundledPark>& parks,
              std::vector<Release>& releases);

 private:
  struct EndedPark {
    int64_t end_sequence;
    int64_t end_ns;
    LockIndex blocker;
  };
  // Of a thread, up to its last park that is complete.
  struct Past {
    bool parked = false;
    int64_t last_sequence = 0, last_begin_ns = 0;
    int64_t passed = 0;  // all unparks up to there belong to parks before
    LockIndex blocker = kNoLock;
    std::vector<EndedPark> recent;  // in their order
    size_t near = 0;                // of these: where the last search ended
  };

  struct Number {
    int64_t sequence;
    uint32_t index;
  };

  void group(const LockEvents& events, Horizon horizon);
  template <class Event>
  std::span<uint32_t> in_order(const std::vector<Event>& all, std::span<uint32_t> indices, std::vector<bool>& settled);
  void bundle(Past& past, std::span<const uint32_t> parks, std::span<const uint32_t> unparks);
  void find_holding_times(size_t first);
  void drop_old_unparks(std::span<const uint32_t> unparks, int64_t until);

  const LockCode& code_;
  LockAccount& account_;
  std::vector<Past> pasts_;  // by thread

  // While settling.
  const LockEvents* events_ = nullptr;
  SettledEvents* settled_ = nullptr;
  std::vector<BundledPark>* parks_ = nullptr;
  std::vector<Release>* releases_ = nullptr;
  Grouping<uint32_t> parks_of_, unparks_of_;  // by thread
  std::vector<Number> numbers_;
};

}  // namespace tarsier::analysis
