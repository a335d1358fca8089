// Imbalance: threads that wait at barriers and joins for the slowest one, and who that was.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/blocked_times.h"
#include "analysis/labels.h"
#include "analysis/thread_activity.h"

namespace tarsier::analysis {

// A place where one who comes early waits, and a method that let those go on who waited there.
struct BarrierRow {
  std::string_view kind;         // CountDownLatch, Thread.join, ..
  uint32_t waiting_in = 0;       // label: the method that waits, outside of the JDK if there is one
  uint32_t slow_in = 0;          // label: the method that came last; kNoLabel: it is not known
  std::string slow;              // the thread, or the threads of that name, that came last most; empty: not known
  int64_t slow_ns = 0;           // idle time because of these
  int64_t idle_ns = 0;           // because of all that came last in that method
  uint64_t waits = 0;            // a thread at a barrier, because of one that came late
  uint64_t waiting_threads = 0;  // that were there at least once
};
constexpr uint32_t kNoLabel = UINT32_MAX;

struct BarrierWaits {
  std::vector<BarrierRow> rows;  // most idle time first
  int64_t idle_ns = 0;
  std::vector<ActivePeriod> late;  // when the slow ones were waited for, by row
};

// Of the selected threads. Whoever lets the others go on may have waited there itself just before, or elsewhere: then
// the one that it waited for is to blame.
BarrierWaits barrier_waits(const Model& model, const LockCode& code, const BlockedTimes& times,
                           const Selection& selection, const Labels& labels);

}  // namespace tarsier::analysis
