// Who made whom wait most, and by which lock: what the verdict says, in memory that does not depend on how many locks
// there are.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "analysis/blocked_times.h"
#include "analysis/lock_aspects.h"

namespace tarsier::analysis {

// Keys are those of AspectKeys.
struct LockBlame {
  int64_t total_ns = 0;
  uint32_t blocked = 0;  // the method that was blocked for longest
  int64_t blocked_ns = 0;
  uint32_t owner = 0;  // who kept it waiting for longest, in a method if one is known
  int64_t owner_ns = 0;
  LockIndex lock = kNoLock;  // mostly by that one
  int64_t lock_ns = 0;
  // Of all threads and times; none if the blame was found out from a model.
  std::shared_ptr<const BlockedTimes> times{};
};

class LockBlameFinder {
 public:
  void add(const AspectKeys& keys, const Contention& contention, std::span<const Piece> pieces);
  // All of them have been added. The keys tell which of equals comes first.
  [[nodiscard]] LockBlame find(const AspectKeys& keys);

 private:
  struct LockTime {
    LockIndex lock = kNoLock;
    int64_t ns = 0;
  };
  struct Pair {
    uint32_t blocked = 0, owner = 0;
    int64_t ns = 0;
    // The locks with most time ("space saving": a new one takes the place of the least, and its time with it). With
    // more of them than places, one that has a tenth of the pair's time is surely there.
    std::array<LockTime, 10> locks{};
    size_t used = 0;
  };
  // Contentions come lock by lock: what one lock has in a pair is added up here, and goes to the pair at once.
  struct Recent {
    uint32_t blocked = 0, owner = 0;
    int64_t ns = 0;
    bool used = false;
  };
  void put_away(Recent& recent);
  void put_all_away();
  Pair& pair(uint32_t blocked, uint32_t owner);
  static void add_to(Pair& pair, LockIndex lock, int64_t ns);

  std::vector<Pair> pairs_;
  IndexTable table_;
  LockIndex lock_ = kNoLock;  // of all recent ones
  std::array<Recent, 128> recent_{};
  int64_t total_ns_ = 0;
};

}  // namespace tarsier::analysis
