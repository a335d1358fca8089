#include "analysis/duration_spread.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tarsier::analysis {
namespace {

// 32 classes for each power of two; up to 64 ns each duration is its own.
uint32_t class_of(int64_t ns) {
  constexpr int kBits = 5;
  const auto value = static_cast<uint64_t>(std::max<int64_t>(ns, 0));
  if (value < (1U << (kBits + 1))) return static_cast<uint32_t>(value);
  const int shift = static_cast<int>(std::bit_width(value)) - kBits - 1;
  return static_cast<uint32_t>(value >> shift) + (static_cast<uint32_t>(shift) << kBits);
}

}  // namespace

void DurationSpread::add(int64_t ns) {
  count_ += 1;
  sum_ += ns;
  max_ = std::max(max_, ns);
  const uint32_t index = class_of(ns);
  auto at = std::lower_bound(classes_.begin(), classes_.end(), index,
                             [](const Class& entry, uint32_t wanted) { return entry.index < wanted; });
  if (at == classes_.end() || at->index != index) at = classes_.insert(at, {index, 0, 0});
  at->count += 1;
  at->sum += ns;
}

int64_t DurationSpread::percentile(double quantile) const {
  const auto rank = static_cast<uint64_t>(std::ceil(quantile * static_cast<double>(count_)));
  uint64_t passed = 0;
  for (const Class& entry : classes_) {
    passed += entry.count;
    if (passed >= rank) return entry.sum / static_cast<int64_t>(entry.count);
  }
  return max_;
}

}  // namespace tarsier::analysis
