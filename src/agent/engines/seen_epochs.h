// In which epoch of class unloading a sample was taken, if who took it could not tell: by when the epoch was looked at.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace tarsier::agent {

class SeenEpochs {
 public:
  struct Between {
    uint64_t epoch = 0;
    uint32_t doubt = 0;  // it may have been any from `epoch` to `epoch + doubt`
  };

  // It was this then. Times and epochs ascend: what was the same before has been the same in between.
  void saw(uint64_t time_ns, uint64_t epoch) {
    if (seen_[0].time_ns != UINT64_MAX && seen_[0].epoch == epoch) return;
    seen_[1] = seen_[0];
    seen_[0] = {time_ns, epoch};
  }
  // Of a sample taken at `time_ns`; `now`: the epoch after that.
  [[nodiscard]] Between at(uint64_t time_ns, uint64_t now) const {
    uint64_t before = 0;  // older than all that we know
    for (const Seen& seen : seen_) {
      if (seen.time_ns > time_ns) continue;
      before = seen.epoch;
      break;
    }
    return {before, static_cast<uint32_t>(std::min<uint64_t>(now - before, UINT32_MAX))};
  }

 private:
  struct Seen {
    uint64_t time_ns = UINT64_MAX;  // when it was first seen
    uint64_t epoch = 0;
  };
  std::array<Seen, 2> seen_;  // the last one first
};

}  // namespace tarsier::agent
