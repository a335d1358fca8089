// How much a look at a recording that goes on may read, so that looking costs no more than a share of one CPU: a
// program that writes faster than it can be analysed needs the CPUs itself.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/units.h"

namespace tarsier::analysis {

class LookBudget {
 public:
  // What it costs is not known before the first look: that one reads little.
  LookBudget(double share, size_t most_bytes)
      : share_(share), most_(most_bytes), bytes_(std::min<size_t>(most_bytes, 2 << 20)) {}

  // What the next look may read.
  [[nodiscard]] size_t bytes() const { return bytes_; }
  // One has read so much and taken so much CPU time, so long after the one before.
  void looked(size_t bytes, Nanos cpu, Nanos pause) {
    constexpr size_t kLeast = 256 << 10;
    const double granted = share_ * static_cast<double>(pause.count);
    const double each = static_cast<double>(cpu.count) / static_cast<double>(std::max<size_t>(bytes, kLeast));
    const double affordable = each > 0 ? granted / each : static_cast<double>(most_);
    bytes_ = std::clamp(static_cast<size_t>(std::min(affordable, static_cast<double>(most_))), std::min(kLeast, most_),
                        most_);
  }

 private:
  double share_;
  size_t most_, bytes_;
};

}  // namespace tarsier::analysis
