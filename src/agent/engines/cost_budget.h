// Which share of the events that a program has is looked at closely, by chance, so that this takes no more than a share
// of the program's CPU time; or of one CPU's time, if it uses less than that. Pure arithmetic.
//
// What was not used is kept, up to a bound: the first stacks of a program take long, as does whatever it does now and
// then, and nobody minds.
#pragma once

#include <algorithm>

#include "base/units.h"

namespace tarsier::agent {

class CostBudget {
 public:
  static constexpr double kFewest = 1.0 / 1024;
  static constexpr Nanos kMostKept = millis(100);

  // 0: whatever it costs.
  explicit CostBudget(double share) : share_(share) {}

  // To be called now and then, with what looking closely has taken so far, the CPU time of the whole process, and the
  // time on the wall. Answers the share of the events of which more is wanted.
  double update(Nanos own, Nanos process, Nanos now) {
    if (!began_) now_ = now;
    began_ = true;
    const Nanos took = own - own_, base = std::max(process - process_, now - now_);
    if (share_ <= 0 || base < kEnough) return kept_;
    own_ = own;
    process_ = process;
    now_ = now;
    const double allowed = share_ * static_cast<double>(base.count), taken = static_cast<double>(took.count);
    unused_ = std::min(unused_ + allowed - taken, static_cast<double>(kMostKept.count));
    // What it takes is proportional to how many they are. Quickly to fewer, slowly to more: what was a lot a moment ago
    // may be so again.
    const double factor = unused_ < 0 && taken > 0 ? std::clamp(allowed / taken, kLess, 1.0) : kMore;
    unused_ = std::max(unused_, 0.0);
    kept_ = std::clamp(kept_ * factor, kFewest, 1.0);
    return kept_;
  }

 private:
  static constexpr Nanos kEnough = millis(50);  // to be told from chance
  static constexpr double kLess = 0.125, kMore = 1.1;

  double share_;
  double kept_ = 1;
  double unused_ = static_cast<double>(kMostKept.count);
  bool began_ = false;
  Nanos own_{0}, process_{0}, now_{0};
};

}  // namespace tarsier::agent
