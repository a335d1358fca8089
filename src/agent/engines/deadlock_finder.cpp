#include "agent/engines/deadlock_finder.h"

#include <algorithm>
#include <unordered_map>

#include "base/cycles.h"

namespace tarsier::agent {
namespace {

// Of different lengths, since the program may have a rhythm of its own.
constexpr Nanos kPauses[] = {millis(1), millis(2), millis(3), millis(5), millis(8)};
constexpr size_t kMostKnown = 1000;

}  // namespace

bool DeadlockFinder::stays(const DeadlockCycle& cycle, WaitSource& source) const {
  return std::all_of(std::begin(kPauses), std::end(kPauses), [&](Nanos pause) {
    sleep_(pause);
    return std::all_of(cycle.begin(), cycle.end(),
                       [&](const LockWait& wait) { return source.of(wait.thread) == wait; });
  });
}

std::vector<DeadlockCycle> DeadlockFinder::look(WaitSource& source) {
  std::vector<LockWait> waits = source.all();
  std::sort(waits.begin(), waits.end());  // so that a circle begins with the same thread whenever it is found
  std::unordered_map<int64_t, size_t> by_thread;
  for (size_t i = 0; i < waits.size(); ++i) by_thread[waits[i].thread] = i;
  std::vector<size_t> waits_for(waits.size(), kPointsAtNobody);
  for (size_t i = 0; i < waits.size(); ++i) {
    if (const auto owner = by_thread.find(waits[i].owner); owner != by_thread.end()) waits_for[i] = owner->second;
  }
  std::vector<DeadlockCycle> found;
  for (const std::vector<size_t>& members : find_cycles(waits_for)) {
    DeadlockCycle cycle;
    for (const size_t member : members) cycle.push_back(waits[member]);
    if (known_.size() >= kMostKnown || known_.contains(cycle) || !stays(cycle, source)) continue;
    known_.insert(cycle);
    found.push_back(std::move(cycle));
  }
  return found;
}

}  // namespace tarsier::agent
