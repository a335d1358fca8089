// Imbalance: threads that wait at barriers and joins for the slowest one, and who that was.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/blocked_times.h"
#include "analysis/labels.h"

namespace tarsier::analysis {

// A place where one who comes early waits, and a method that let those go on who waited there.
struct BarrierRow {
  std::string_view kind;         // CountDownLatch, Thread.join, ..
  uint32_t waiting_in = 0;       // label: the method that waits, outside of the JDK if there is one
  uint32_t slow_in = 0;          // label: the method that came last; kNoLabel: it is not known
  ThreadIndex slow = kNobody;    // the thread that came last most of the time
  int64_t slow_ns = 0;           // idle time because of that one
  int64_t idle_ns = 0;           // because of all that came last in that method
  uint64_t waits = 0;            // pieces: a thread at a barrier, because of one that came late
  uint64_t waiting_threads = 0;  // that were there at least once
};
constexpr uint32_t kNoLabel = UINT32_MAX;

struct BarrierWaits {
  std::vector<BarrierRow> rows;  // most idle time first
  int64_t idle_ns = 0;
  // Which row each piece of BlockedTimes::pieces() is in; kNoRow: it is no wait at a barrier.
  static constexpr uint32_t kNoRow = UINT32_MAX;
  std::vector<uint32_t> row_of_piece;
};

// Of the selected threads.
BarrierWaits barrier_waits(const Model& model, const BlockedTimes& times, const Selection& selection,
                           const Labels& labels);

}  // namespace tarsier::analysis
