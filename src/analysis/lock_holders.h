// Who held a lock that several may hold at once, where that was recorded (--lock-detail), and how the time of those who
// waited is divided among them.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "analysis/contention.h"
#include "analysis/lock_limits.h"
#include "analysis/settled_events.h"

namespace tarsier::analysis {

class LockHolders {
 public:
  LockHolders(const LockLimits& limits, LockAccount& account) : limits_(limits), account_(account) {}

  // Takes them all.
  void settle(const LockEvents& events, SettledEvents& settled);
  // The pieces of a wait up to `until_ns`; false: nobody is known to have held the lock, and there are none. Time in
  // which n threads held it is cut into n equal parts, one for each.
  bool cut(const ThreadPark& park, int64_t until_ns, PieceList& pieces, PieceBudget& budget);

 private:
  struct OfLock {
    std::vector<LockHold> holds;        // by their ends
    std::vector<LockHold> from_before;  // by their ends; of each thread one at most
    int64_t longest_ns = 0;
    int64_t forgotten_until_ns = INT64_MIN;
  };
  void forget_old();
  void find_overlapping(const OfLock& of_lock, const ThreadPark& park, int64_t until_ns);
  void share(int64_t begin, int64_t end, PieceList& pieces) const;

  const LockLimits& limits_;
  LockAccount& account_;
  std::vector<OfLock> locks_;
  std::unordered_set<uint64_t> seen_;  // lock and thread
  size_t kept_ = 0;

  // While cutting.
  std::vector<LockHold> overlapping_;  // by their begins
  std::vector<int64_t> cuts_;
};

}  // namespace tarsier::analysis
