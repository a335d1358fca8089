// Who held a lock that several may hold at once, where that was recorded (--lock-detail), and how the time of those who
// waited is divided among them.
#pragma once

#include <cstdint>
#include <span>
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
  // By their ends. Those that began early enough are found without looking at all.
  struct Holds {
    static constexpr size_t kBlock = 64;
    std::vector<LockHold> all;
    std::vector<int64_t> earliest;  // begin, of each kBlock of them
    void add(std::span<const LockHold> sorted);
    void forget_half();
  };
  struct OfLock {
    Holds holds;
    Holds from_before;  // of each thread one at most
    int64_t forgotten_until_ns = INT64_MIN;
    size_t acquired = 0, passed_on = 0;  // holds that are known from their begin; releases of what others had acquired
    // Then it says nothing who acquired it: permits are signals, or are given back by others.
    [[nodiscard]] bool is_passed_on() const { return passed_on * 10 > acquired; }
  };
  void add_to_lock(OfLock& of_lock, std::span<const LockHold> sorted);
  void forget_old();
  void find_overlapping(const OfLock& of_lock, const ThreadPark& park, int64_t until_ns);
  void find_cuts(int64_t begin, int64_t end);
  // Those who hold it from `now` to the next cut. Times come in order.
  void go_to(int64_t now);

  const LockLimits& limits_;
  LockAccount& account_;
  std::vector<OfLock> locks_;
  std::unordered_set<uint64_t> seen_;  // lock and thread
  std::vector<LockHold> added_, from_before_;
  size_t kept_ = 0;

  // While cutting.
  std::vector<LockHold> overlapping_;  // by their begins
  std::vector<int64_t> cuts_;
  std::vector<LockHold> holding_;
  size_t begun_ = 0;  // of overlapping_
};

}  // namespace tarsier::analysis
