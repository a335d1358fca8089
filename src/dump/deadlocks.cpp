#include "dump/deadlocks.h"

#include <map>
#include <utility>

#include "base/cycles.h"

namespace tarsier::dump {
namespace {

std::optional<LockKind> awaited_kind(const Thread& thread) {
  if (!thread.awaits || thread.awaits->lock.address == 0) return std::nullopt;
  switch (thread.awaits->how) {
    case Wait::kMonitor:
      return LockKind::kMonitor;
    case Wait::kParked:
      return LockKind::kSynchronizer;
    case Wait::kNotify:
    case Wait::kClassInit:
      return std::nullopt;
  }
  return std::nullopt;
}

bool has_released_something(const Thread& thread) {
  return thread.awaits && thread.awaits->how == Wait::kNotify && thread.awaits->lock.address == 0;
}

}  // namespace

std::vector<std::optional<Holder>> find_holders(const ThreadDump& dump) {
  std::map<std::pair<LockKind, uint64_t>, Holder> holders;
  // Who is in Object.wait seems to hold what it has released, if compiled code does not tell what it waits on: whoever
  // else seems to hold that is right.
  for (const bool in_doubt : {true, false}) {
    for (size_t i = 0; i < dump.threads.size(); ++i) {
      if (has_released_something(dump.threads[i]) != in_doubt) continue;
      // Outer frames come last, and stay.
      for (const HeldLock& held : dump.threads[i].holds) holders[{held.kind, held.lock.address}] = {i, held.frame};
    }
  }
  std::vector<std::optional<Holder>> result(dump.threads.size());
  for (size_t i = 0; i < dump.threads.size(); ++i) {
    const auto kind = awaited_kind(dump.threads[i]);
    if (!kind) continue;
    const auto holder = holders.find({*kind, dump.threads[i].awaits->lock.address});
    if (holder != holders.end()) result[i] = holder->second;
  }
  return result;
}

std::vector<Deadlock> find_deadlocks(const ThreadDump& dump, const std::vector<std::optional<Holder>>& holders) {
  std::vector<size_t> waits_for(dump.threads.size(), kPointsAtNobody);
  for (size_t i = 0; i < dump.threads.size(); ++i) {
    if (holders[i] && !dump.threads[i].is_timed()) waits_for[i] = holders[i]->thread;
  }
  return find_cycles(waits_for);
}

}  // namespace tarsier::dump
