#include "analysis/contentions.h"

#include <algorithm>

#include "analysis/monitor_contentions.h"
#include "analysis/park_contentions.h"

namespace tarsier::analysis {

void for_each_contention(const Model& model, const LockCode& code, const Selection& selection,
                         const ContentionSink& sink, PieceBudget budget) {
  std::vector<Piece> clipped;
  const ContentionSink selected = [&](const Contention& contention, std::span<const Piece> pieces) {
    if (!selection.has(contention.thread)) return;
    if (selection.whole_time()) return sink(contention, pieces);
    Contention part = contention;
    if (!selection.clip(part.begin_ns, part.end_ns)) return;
    clipped.clear();
    for (Piece piece : pieces) {
      if (selection.clip(piece.begin_ns, piece.end_ns)) clipped.push_back(piece);
    }
    if (!clipped.empty()) sink(part, clipped);
  };
  monitor_contentions(model.locks, budget, selected);
  park_contentions(model.locks, code, model.threads.size(), budget, selected);
}

}  // namespace tarsier::analysis
