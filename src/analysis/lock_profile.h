// Contentions broken down by any sequence of aspects.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "analysis/duration_spread.h"
#include "analysis/lock_aspects.h"
#include "analysis/selection.h"

namespace tarsier::analysis {

struct LockNode {
  uint32_t parent = 0;
  uint32_t key = 0;                // of the aspect of its level
  uint32_t level = 0;              // the root has 0, the first aspect 1
  int64_t blocked_ns = 0;          // the sum over its children
  DurationSpread contentions;      // of each contention that has pieces here, their sum
  std::vector<uint32_t> children;  // most time first
};

struct LockProfile {
  std::vector<LockAspect> by;
  std::vector<LockNode> nodes;  // 0: the root; every other one after its parent
  std::array<int64_t, static_cast<size_t>(Owner::Kind::kCount)> by_owner{};  // of the root: ns
  std::array<int64_t, static_cast<size_t>(LockGroup::kCount)> by_group{};    // of all groups, shown or not: ns

  [[nodiscard]] int64_t total() const { return nodes[0].blocked_ns; }
};

// Of locks only, unless the group is among the aspects: then of everything that threads were parked for.
LockProfile lock_profile(const Model& model, const LockCode& code, const Selection& selection, const AspectKeys& keys,
                         std::vector<LockAspect> by);

}  // namespace tarsier::analysis
