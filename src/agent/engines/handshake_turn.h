// Whose turn it is: of the threads that have used up their interval those that wait for a sample the longest.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/units.h"

namespace tarsier::agent {

// `Thread` is a pointer of some kind.
template <class Thread>
class HandshakeTurn {
 public:
  // A tick, of which nobody is known to be due yet.
  void begin() { due_.clear(); }
  // A thread that has used so much CPU time since its last sample.
  void add(Thread thread, Nanos used) { due_.push_back({std::move(thread), used}); }

  // `at_most` of them. First those that run at this moment, runs(thread): they answer at once. Then those that wait for
  // a CPU, queues(thread): whoever sleeps by now would show where it waits and not where it ran. That question is dear,
  // and not asked of many in vain: their burst is over, and another one's turn comes. Among both the ones with the most
  // unsampled time come first.
  template <class Runs, class Queues>
  std::vector<Thread> choose(size_t at_most, Runs&& runs, Queues&& queues) {
    std::sort(due_.begin(), due_.end(), [](const Due& a, const Due& b) { return a.used > b.used; });
    const auto others =
        std::stable_partition(due_.begin(), due_.end(), [&](const Due& due) { return runs(due.thread); });
    std::vector<Thread> chosen;
    for (auto it = due_.begin(); it != others && chosen.size() < at_most; ++it) chosen.push_back(it->thread);
    constexpr size_t kMostInVain = 2;
    size_t in_vain = 0;
    for (auto it = others; it != due_.end() && chosen.size() < at_most && in_vain < kMostInVain; ++it) {
      if (queues(it->thread)) {
        chosen.push_back(it->thread);
      } else {
        ++in_vain;
      }
    }
    return chosen;
  }

 private:
  struct Due {
    Thread thread;
    Nanos used;
  };
  std::vector<Due> due_;
};

}  // namespace tarsier::agent
