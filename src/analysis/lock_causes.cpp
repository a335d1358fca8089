#include "analysis/lock_causes.h"

#include <algorithm>
#include <unordered_map>

namespace tarsier::analysis {
namespace {

// When the locks had owners that are known, row by row in the order of `locks`.
std::vector<ActivePeriod> holding_periods(const BlockedTimes& times, const std::vector<LockIndex>& locks) {
  std::unordered_map<LockIndex, uint32_t> place;
  for (uint32_t i = 0; i < locks.size(); ++i) place[locks[i]] = i;
  std::vector<ActivePeriod> periods;
  for (const BlockedPiece& piece : times.pieces()) {
    const auto row = place.find(piece.lock);
    if (row == place.end() || piece.owner.thread == kNobody) continue;
    periods.push_back({row->second, piece.owner.thread, piece.begin_ns, piece.end_ns, piece.lock});
  }
  return periods;
}

}  // namespace

LockCauses lock_causes(const Model& model, const LockCode& code, const BlockedTimes& times, const Selection& selection,
                       const AspectKeys& keys, const Labels& labels, size_t most) {
  LockCauses causes;
  causes.chains = blocking_chains(times, selection, keys);
  causes.slices = time_slices(model, selection);
  causes.barriers = barrier_waits(model, code, times, selection, labels);
  causes.gaps = lock_gaps(model.locks);
  causes.activity_recorded = activity_recorded(model);
  causes.left_out_ns = times.left_out_ns();
  const std::vector<LockIndex> locks = times.worst_locks(most);
  std::vector<LockPressure> pressures = lock_pressure(model, times, selection, locks);
  std::vector<Activity> owners = thread_activity(model, times, labels, holding_periods(times, locks), locks.size());
  for (size_t i = 0; i < locks.size(); ++i) {
    causes.locks.push_back({.lock = locks[i],
                            .sum = times.sum(locks[i]),
                            .queue = lock_queue(times.of(locks[i])),
                            .pressure = std::move(pressures[i]),
                            .owners = std::move(owners[i])});
  }
  const size_t rows = std::min(most, causes.barriers.rows.size());
  std::vector<ActivePeriod> late = std::move(causes.barriers.late);
  std::erase_if(late, [&](const ActivePeriod& period) { return period.row >= rows; });
  causes.late = thread_activity(model, times, labels, std::move(late), rows);
  return causes;
}

}  // namespace tarsier::analysis
