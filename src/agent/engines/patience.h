// How long samples may wait until they are decoded. Together they cost less: what decoding touches comes into the
// caches once. But deep stacks are copied whole only while their ring has much room, and what they lead to may go away.
#pragma once

#include <algorithm>
#include <cstddef>

#include "base/units.h"

namespace tarsier::agent {

class Patience {
 public:
  [[nodiscard]] Nanos now() const { return now_; }
  // `used`: of the ring, before those in it are decoded. The next time it is to be an eighth.
  void begin(size_t used, size_t ring_bytes, Nanos time) {
    const Nanos passed = emptied_.count == 0 ? now_ : time - emptied_;
    // Our thread has come by for something else.
    if (passed < kWorthLooking) return;
    const auto came = static_cast<double>(used > left_ ? used - left_ : 1);
    const double wanted = static_cast<double>(passed.count) * static_cast<double>(ring_bytes) / 8 / came;
    const double most = 2 * static_cast<double>(now_.count);
    now_ = std::clamp(Nanos(static_cast<int64_t>(std::min(wanted, most))), kLeast, kMost);
  }
  // All that could be have been decoded. `left`: of the ring, behind one that is still being written.
  void end(size_t left, Nanos time) {
    left_ = left;
    emptied_ = time;
  }

 private:
  static constexpr Nanos kLeast = millis(2), kMost = millis(50), kWorthLooking = millis(1);
  Nanos now_ = millis(10);
  size_t left_ = 0;
  Nanos emptied_;
};

}  // namespace tarsier::agent
