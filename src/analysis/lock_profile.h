// Contentions broken down by any sequence of aspects.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "analysis/blocked_times.h"
#include "analysis/duration_spread.h"
#include "analysis/index_table.h"
#include "analysis/lock_aspects.h"
#include "analysis/lock_limits.h"
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
  LockAccount account;
  std::shared_ptr<const BlockedTimes> times;  // of the same selection; none if the profile was made from a model
  uint64_t merged = 0;                        // nodes beyond the most that there may be: their time is in one [more]

  [[nodiscard]] int64_t total() const { return nodes[0].blocked_ns; }
};

// Takes contentions one by one.
class LockProfileBuilder {
 public:
  explicit LockProfileBuilder(std::vector<LockAspect> by);

  // The keys may have grown between two calls.
  void add(const AspectKeys& keys, const Contention& contention, std::span<const Piece> pieces);
  LockProfile finish(const AspectKeys& keys, const LockAccount& account) &&;

 private:
  static constexpr int64_t kUntouched = -1;
  // Most pieces go where others of the same lock went just before.
  struct Seen {
    uint32_t parent = UINT32_MAX, key = 0, node = 0;
  };

  void add_pieces(const AspectKeys& keys, uint32_t node, const Contention& contention, std::span<const Piece> pieces);
  uint32_t child(uint32_t parent, uint32_t key) {
    Seen& seen = seen_[(parent * 5 + key) % seen_.size()];
    if (seen.parent != parent || seen.key != key) seen = {parent, key, find_child(parent, key)};
    return seen.node;
  }
  uint32_t find_child(uint32_t parent, uint32_t key);

  LockProfile profile_;
  const bool all_groups_;
  size_t owner_level_ = 0;  // from there on pieces of a contention may differ
  IndexTable table_;
  std::array<Seen, 512> seen_;
  std::vector<int64_t> open_;      // by node: what the contention that is being added has in it
  std::vector<uint32_t> touched_;  // nodes
};

// Of locks only, unless the group is among the aspects: then of everything that threads were parked for.
LockProfile lock_profile(const Model& model, const LockCode& code, const Selection& selection, const AspectKeys& keys,
                         std::vector<LockAspect> by);

}  // namespace tarsier::analysis
