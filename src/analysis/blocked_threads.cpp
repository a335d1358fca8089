#include "analysis/blocked_threads.h"

#include <algorithm>

#include "analysis/contentions.h"
#include "analysis/lock_blame.h"

namespace tarsier::analysis {

std::vector<int64_t> blocked_by_thread(const Model& model, const Selection& selection) {
  const auto looks = [](const Engine& engine) { return engine.is_lock() && !engine.is_missing(); };
  if (model.locks.empty() && std::none_of(model.engines.begin(), model.engines.end(), looks)) return {};
  std::vector<int64_t> blocked(model.threads.size());
  if (!model.locks.complete()) {
    const bool known = selection.whole_time() && model.lock_blame && model.lock_blame->times;
    if (!known) return {};
    for (uint32_t i = 0; i < blocked.size(); ++i) blocked[i] = model.lock_blame->times->total_ns(ThreadIndex(i));
    return blocked;
  }
  const LockCode code(model);
  for_each_contention(model, code, selection, [&](const Contention& contention, std::span<const Piece>) {
    if (is_lock(contention.group) && contention.thread.value < blocked.size()) {
      blocked[contention.thread.value] += contention.end_ns - contention.begin_ns;
    }
  });
  return blocked;
}

}  // namespace tarsier::analysis
