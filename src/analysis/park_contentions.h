// The contentions of what threads park on, one blocker at a time.
#pragma once

#include <span>
#include <vector>

#include "analysis/lock_holders.h"
#include "analysis/park_bundles.h"

namespace tarsier::analysis {

class ParkContentions {
 public:
  ParkContentions(const LockCode& code, const LockLimits& limits, PieceBudget& budget, LockAccount& account,
                  const ContentionSink& sink)
      : code_(code),
        limits_(limits),
        budget_(budget),
        account_(account),
        sink_(sink),
        bundles_(code, account),
        holders_(limits, account) {}

  // Tells the sink of those that are final. `settled`: by which events; the others must be given again.
  void settle(const LockEvents& events, Horizon horizon, SettledEvents& settled);

 private:
  // In the order of their numbers. What was before is forgotten.
  struct Releases {
    std::vector<Release> kept;
    int64_t forgotten = 0;  // up to this number
    size_t near = 0;        // of those that are kept: where the last search ended
  };

  void add_releases(Releases& releases, std::span<const Release> added);
  void tell(const BundledPark& bundled, Releases& releases);
  void cut(const Contention& contention, const BundledPark& bundled, Releases& releases);
  void at_releases(const ThreadPark& park, int64_t last, Releases& releases);
  void forget_old_releases(int64_t newest);

  const LockCode& code_;
  const LockLimits& limits_;
  PieceBudget& budget_;
  LockAccount& account_;
  const ContentionSink& sink_;
  ParkBundles bundles_;
  LockHolders holders_;
  std::vector<Releases> releases_;    // by lock
  std::vector<BundledPark> waiting_;  // until all releases are known
  size_t changes_ = 0;                // of all releases

  // While settling.
  std::vector<Release> new_releases_;
  std::vector<BundledPark> later_;
  Grouping<Release> by_lock_;
  Grouping<uint32_t> ready_;  // of waiting_, by lock
  PieceList pieces_;
};

}  // namespace tarsier::analysis
