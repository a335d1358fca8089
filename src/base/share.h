// A part of a whole as a number from 0 to 1.
#pragma once

#include <cstdint>

#include "base/units.h"

namespace tarsier {

// Of nothing: none.
constexpr double share(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}
constexpr double share(int64_t part, int64_t whole) {
  return share(static_cast<double>(part), static_cast<double>(whole));
}
constexpr double share(Nanos part, Nanos whole) {
  return share(part.count, whole.count);
}

}  // namespace tarsier
