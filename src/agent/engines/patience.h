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
  // `used`: of the ring, before a batch is decoded.
  void see(size_t used, size_t ring_bytes) {
    const bool fills = used > ring_bytes / 8;
    now_ = fills ? kLeast : std::min(Nanos(now_.count * 2), kMost);
  }

 private:
  static constexpr Nanos kLeast = millis(10), kMost = millis(50);
  Nanos now_ = kLeast;
};

}  // namespace tarsier::agent
