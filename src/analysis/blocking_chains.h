// Whose fault is it in the end? A waits for B, who waits for C: what A loses meanwhile is passed on to C, the root
// cause. A root holds a lock and runs, or waits for something that is no lock.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/blocked_times.h"
#include "analysis/lock_aspects.h"

namespace tarsier::analysis {

// One who held a lock, in one method.
struct BlockingCause {
  LockIndex lock = kNoLock;
  uint32_t method = 0;           // key of LockAspect::kOwnerMethod
  ThreadIndex thread = kNobody;  // kNobody: several, or it is not known
  // Threads that wait for each other: nobody of them runs.
  bool cycle = false;

  int64_t caused_ns = 0;     // as a root: what others were blocked because of it
  int64_t passed_on_ns = 0;  // of that: by way of others, who were blocked themselves
  int64_t direct_ns = 0;     // as the owner that a tree of owners shows, whether it was blocked itself or not
  uint32_t longest = 0;      // chain that ended here; 1: who was blocked waited for it directly

  // The owners at the other ends of the chains that ended here, most time first.
  struct Through {
    uint32_t cause = 0;  // index into BlockingChains::causes
    int64_t ns = 0;
  };
  std::vector<Through> through;
};

struct BlockingChains {
  std::vector<BlockingCause> causes;  // most caused time first; also those that caused nothing by themselves
  int64_t total_ns = 0;               // the sum of what they caused
  int64_t passed_on_ns = 0;
  int64_t not_followed_ns = 0;  // taken for roots, since there were too many to look at
};

// Of the selected threads: what they lost to locks.
BlockingChains blocking_chains(const BlockedTimes& times, const Selection& selection, const AspectKeys& keys);

}  // namespace tarsier::analysis
