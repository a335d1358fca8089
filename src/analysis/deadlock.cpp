#include "analysis/deadlock.h"

#include <algorithm>

#include "analysis/lock_aspects.h"
#include "analysis/lock_code.h"
#include "analysis/lock_names.h"
#include "analysis/model.h"

namespace tarsier::analysis {
namespace {

constexpr size_t kMostEdgesInVerdict = 4;

std::string name_of(const Model& model, ThreadIndex thread) {
  return thread == kNobody ? "a thread that is not known" : model.threads[thread.value].name;
}

}  // namespace

std::string waits_in(const Model& model, const DeadlockEdge& edge) {
  const StackIndex frame = LockCode(model).user_frame(edge.stack);
  return model.methods[model.stacks[frame.value].method.value].name;
}

std::string words_of_deadlock(const Model& model, const Deadlock& deadlock, size_t most_edges) {
  const size_t count = deadlock.edges.size();
  std::string text = "Deadlock of " + std::to_string(count) + (count == 1 ? " thread: " : " threads: ");
  for (size_t i = 0; i < std::min(count, most_edges); ++i) {
    const DeadlockEdge& edge = deadlock.edges[i];
    text += (i == 0 ? "" : "; ") + name_of(model, edge.thread) + " waits in " + waits_in(model, edge) + " for " +
            short_lock_name(lock_name(model, edge.lock)) + " held by " + name_of(model, edge.owner);
  }
  return text + (count > most_edges ? "; and so on (report --view locks shows all)." : ".");
}

std::string deadlock_verdict(const Model& model) {
  if (model.deadlocks.empty()) return {};
  std::string text = words_of_deadlock(model, model.deadlocks.front(), kMostEdgesInVerdict);
  const size_t more = model.deadlocks.size() - 1;
  if (more > 0) text += " And " + std::to_string(more) + (more == 1 ? " more deadlock." : " more deadlocks.");
  return text;
}

}  // namespace tarsier::analysis
