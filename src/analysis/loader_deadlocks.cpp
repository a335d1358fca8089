#include "analysis/loader.h"

namespace tarsier::analysis {

using recording::Chunk;
using recording::EventView;

// One event for each thread of a deadlock, one after the other.
void Loader::deadlock(const Chunk& chunk, const EventView& event, const WideFields& fields) {
  const auto& [u1, u2, u3, u4, u5, u6, kind, owner, cycle, u7, u8, u9, u13] = fields;
  const LockMoment moment = lock_moment(chunk, event, fields);
  const int64_t number = event.number(cycle);
  std::vector<Deadlock>& all = model_.deadlocks;
  if (all.empty() || all.back().number != number || all.back().noticed_ns != moment.time_ns) {
    all.push_back({.number = number, .noticed_ns = moment.time_ns, .edges = {}});
  }
  all.back().edges.push_back({.thread = moment.thread,
                              .stack = moment.stack,
                              .lock = resolve_lock(chunk, event, fields),
                              .is_monitor = event.string(kind) == "monitor",
                              .owner = other_thread(chunk, event, owner)});
}

}  // namespace tarsier::analysis
