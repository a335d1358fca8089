// Parks and unparks brought together: what ended each park, and when each blocker was released by whom.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/grouped_indices.h"
#include "analysis/lock_code.h"
#include "analysis/lock_events.h"

namespace tarsier::analysis {

constexpr uint32_t kNoUnpark = UINT32_MAX;

struct BundledPark {
  uint32_t park = 0;              // index into LockEvents::parks
  uint32_t ended_by = kNoUnpark;  // index into LockEvents::unparks
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
  ParkBundles(const LockEvents& events, const LockCode& code, size_t threads);

  [[nodiscard]] const std::vector<BundledPark>& parks() const { return parks_; }
  [[nodiscard]] const Release& release(uint32_t index) const { return releases_[index]; }
  // In their order.
  [[nodiscard]] std::span<const uint32_t> releases_of(LockIndex lock) const { return by_lock_.of(lock.value); }

 private:
  // The thread's parks and the unparks that meant it, both in their order.
  void bundle(std::span<const uint32_t> parks, std::span<const uint32_t> unparks);
  void add_releases_by_conditions();
  void find_holding_times(size_t threads);

  const LockEvents& events_;
  const LockCode& code_;
  std::vector<BundledPark> parks_;
  std::vector<Release> releases_;
  GroupedIndices by_lock_;
};

}  // namespace tarsier::analysis
