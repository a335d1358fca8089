// All that is more than the sum of contentions: who is to blame in the end, how the worst locks were used, what their
// owners did meanwhile, who was late at barriers, and what is missing in the recording.
#pragma once

#include <vector>

#include "analysis/barrier_waits.h"
#include "analysis/blocked_times.h"
#include "analysis/blocking_chains.h"
#include "analysis/lock_gaps.h"
#include "analysis/lock_pressure.h"
#include "analysis/lock_queues.h"
#include "analysis/thread_activity.h"

namespace tarsier::analysis {

struct LockUse {
  LockIndex lock{};
  LockSum sum;
  LockQueue queue;
  LockPressure pressure;
  Activity owners;  // of those who held it, while others were blocked by it
};

struct LockCauses {
  BlockingChains chains;
  std::vector<LockUse> locks;  // most blocked time first
  PressureSlices slices;       // of their pressure
  BarrierWaits barriers;
  std::vector<Activity> late;  // by row of `barriers`: what those did who came last, while others waited; only of the
                               // first rows
  LockGaps gaps;
  bool activity_recorded = false;
  int64_t left_out_ns = 0;  // in pieces that are too short and too many to be looked at
};

// At most so many locks, and rows of barriers with what the late ones did.
LockCauses lock_causes(const Model& model, const LockCode& code, const BlockedTimes& times, const Selection& selection,
                       const AspectKeys& keys, const Labels& labels, size_t most);

}  // namespace tarsier::analysis
