#include "analysis/blocked_threads.h"

#include <algorithm>

#include "analysis/contentions.h"

namespace tarsier::analysis {

std::vector<int64_t> blocked_by_thread(const Model& model, const Selection& selection) {
  const auto looks = [](const Engine& engine) { return engine.is_lock() && !engine.is_missing(); };
  if (model.locks.empty() && std::none_of(model.engines.begin(), model.engines.end(), looks)) return {};
  std::vector<int64_t> blocked(model.threads.size());
  const LockCode code(model);
  for_each_contention(model, code, selection, [&](const Contention& contention, std::span<const Piece>) {
    if (is_lock(contention.group) && contention.thread.value < blocked.size()) {
      blocked[contention.thread.value] += contention.end_ns - contention.begin_ns;
    }
  });
  return blocked;
}

}  // namespace tarsier::analysis
