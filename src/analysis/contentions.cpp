#include "analysis/contentions.h"

#include <algorithm>
#include <utility>

namespace tarsier::analysis {

Contentions::Contentions(const LockCode& code, const ContentionSink& sink, PieceBudget budget, const LockLimits& limits)
    : limits_(limits),
      budget_(budget),
      sink_(sink),
      monitors_(limits_, budget_, account_, sink_),
      parks_(code, limits_, budget_, account_, sink_) {}

void Contentions::settle(const LockEvents& events, Horizon horizon) {
  settled_.start(events);
  monitors_.settle(events, horizon, settled_);
  parks_.settle(events, horizon, settled_);
}

void Contentions::advance(LockEvents& events, int64_t newest_ns) {
  const int64_t complete = newest_ns - limits_.lateness.count;
  settle(events, {.complete_ns = complete, .final_ns = complete - limits_.wake_up.count});
  settled_.take_out_of(events);
}

void Contentions::finish(const LockEvents& events) {
  settle(events, {});
}

ContentionSink selected(const Selection& selection, ContentionSink sink) {
  return [&selection, sink = std::move(sink), clipped = std::vector<Piece>()](const Contention& contention,
                                                                              std::span<const Piece> pieces) mutable {
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
}

void for_each_contention(const Model& model, const LockCode& code, const Selection& selection,
                         const ContentionSink& sink, PieceBudget budget) {
  Contentions(code, selected(selection, sink), budget).finish(model.locks);
}

bool owners_recorded(const Model& model) {
  const auto sees_owners = [](const Engine& engine) {
    return engine.is_lock() && !engine.is_missing() && engine.mechanism != "blocked";
  };
  return model.locks.has_owners() || std::any_of(model.engines.begin(), model.engines.end(), sees_owners);
}

}  // namespace tarsier::analysis
