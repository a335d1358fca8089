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
  // `used`: of the ring, before a batch is decoded. The next time it is to be an eighth.
  void see(size_t used, size_t ring_bytes) {
    const double wanted = static_cast<double>(ring_bytes) / 8;
    const double factor = std::min(wanted / static_cast<double>(std::max<size_t>(used, 1)), 2.0);
    now_ = std::clamp(Nanos(static_cast<int64_t>(static_cast<double>(now_.count) * factor)), kLeast, kMost);
  }

 private:
  static constexpr Nanos kLeast = millis(2), kMost = millis(50);
  Nanos now_ = millis(10);
};

}  // namespace tarsier::agent
