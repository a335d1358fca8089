// All contentions of a recording, or of the selected threads and time, one after the other: they are worked out anew
// each time, since their pieces may need more memory than the recording.
#pragma once

#include "analysis/contention.h"
#include "analysis/lock_code.h"
#include "analysis/lock_limits.h"
#include "analysis/model.h"
#include "analysis/monitor_contentions.h"
#include "analysis/park_contentions.h"
#include "analysis/selection.h"

namespace tarsier::analysis {

// The analysis itself, while events come or of all of them.
class Contentions {
 public:
  Contentions(const LockCode& code, const ContentionSink& sink, PieceBudget budget = PieceBudget(),
              const LockLimits& limits = {});
  Contentions(const Contentions&) = delete;
  Contentions& operator=(const Contentions&) = delete;

  // Takes what is final out of the columns. They hold all that has come so far and was not taken yet; `newest_ns`: the
  // last event that came happened about then.
  void advance(LockEvents& events, int64_t newest_ns);
  // Nothing comes any more. The columns stay as they are.
  void finish(const LockEvents& events);

  [[nodiscard]] const LockAccount& account() const { return account_; }

 private:
  void settle(const LockEvents& events, Horizon horizon);

  LockLimits limits_;
  PieceBudget budget_;
  LockAccount account_;
  ContentionSink sink_;
  MonitorContentions monitors_;
  ParkContentions parks_;
  SettledEvents settled_;
};

// Of events that are in memory. Of contentions that are only partly in the selected time, that part.
void for_each_contention(const Model& model, const LockCode& code, const Selection& selection,
                         const ContentionSink& sink, PieceBudget budget = PieceBudget());
// What a selection leaves of them.
ContentionSink selected(const Selection& selection, ContentionSink sink);

// Not of JFR itself, nor of the mechanism `blocked`: these know who was blocked, and by which thread at best.
bool owners_recorded(const Model& model);

}  // namespace tarsier::analysis
