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

  // Those with the most unsampled time, `at_most` of them, for which runs(thread) holds: whoever sleeps by now would
  // show where it waits and not where it ran. It is asked of as few as possible, since the kernel has to be, and not of
  // many sleepers in vain: it is another one's turn at the next tick.
  template <class Runs>
  std::vector<Thread> choose(size_t at_most, Runs&& runs) {
    constexpr size_t kMostInVain = 8;
    std::vector<Thread> chosen;
    size_t in_vain = 0;
    std::sort(due_.begin(), due_.end(), [](const Due& a, const Due& b) { return a.used > b.used; });
    for (Due& due : due_) {
      if (chosen.size() == at_most || in_vain == kMostInVain) break;
      if (runs(due.thread)) {
        chosen.push_back(std::move(due.thread));
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
