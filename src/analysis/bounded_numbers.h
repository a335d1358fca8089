// Numbers out of a file that may be damaged, brought within bounds.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/units.h"

namespace tarsier::analysis {

// Counts above this are damage; below it they survive JSON and can be added.
constexpr int64_t kMaxCount = int64_t{1} << 53;

inline uint64_t as_count(int64_t number) {
  return static_cast<uint64_t>(std::clamp<int64_t>(number, 0, kMaxCount));
}
inline Nanos as_nanos(int64_t number) {
  return Nanos(std::clamp<int64_t>(number, 0, kMaxCount));
}

}  // namespace tarsier::analysis
