// Which share of the events that a program has is looked at closely, by chance, so that this takes no more than a share
// of the program's CPU time. Pure arithmetic.
#pragma once

#include <algorithm>

#include "base/units.h"

namespace tarsier::agent {

class CostBudget {
 public:
  static constexpr double kFewest = 1.0 / 1024;

  // 0: whatever it costs.
  explicit CostBudget(double share) : share_(share) {}

  // To be called now and then, with what looking closely has taken so far, and the whole process. Answers the share of
  // the events of which more is wanted.
  double update(Nanos own, Nanos process) {
    const Nanos took = own - own_, used = process - process_;
    if (share_ <= 0 || used < kEnough) return kept_;
    own_ = own;
    process_ = process;
    const double share = static_cast<double>(took.count) / static_cast<double>(used.count);
    // What it takes is proportional to how many they are. Quickly to fewer, slowly to more: what was a lot a moment ago
    // may be so again.
    const double factor = share > 0 ? share_ / share : kMore;
    kept_ = std::clamp(kept_ * std::clamp(factor, kLess, kMore), kFewest, 1.0);
    return kept_;
  }

 private:
  static constexpr Nanos kEnough = millis(50);  // of CPU time, to be told from chance
  static constexpr double kLess = 0.125, kMore = 1.25;

  double share_;
  double kept_ = 1;
  Nanos own_{0}, process_{0};
};

}  // namespace tarsier::agent
