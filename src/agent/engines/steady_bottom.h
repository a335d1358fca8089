// Whether a thread's Java frames begin at a place that stays. That of most is where it was started. But the thread that
// starts the JVM enters Java from many places, one after the other, and so may any native thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace tarsier::agent {

class SteadyBottom {
 public:
  // A complete stack began there. `weight`: the CPU time that its sample stands for. The place, once that has been so
  // for long enough.
  std::optional<uint64_t> seen(uint64_t bottom, uint64_t weight_ns) {
    if (bottom != bottom_) {
      bottom_ = bottom;
      for_ns_ = 0;
    }
    for_ns_ += weight_ns;
    return for_ns_ >= needed_ns_ ? std::optional(bottom) : std::nullopt;
  }
  // It was believed, and was wrong.
  void refute() {
    constexpr uint64_t kLongest = 10'000'000'000;
    needed_ns_ = std::min(2 * needed_ns_, kLongest);
    bottom_ = for_ns_ = 0;
  }

 private:
  uint64_t bottom_ = 0, for_ns_ = 0, needed_ns_ = 250'000'000;
};

}  // namespace tarsier::agent
