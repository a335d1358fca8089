#include "analysis/duration_spread.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tarsier::analysis {
namespace {

constexpr size_t kFew = 16, kMany = 448;
constexpr int kCountBits = 40;
constexpr int kBits = 5;  // 32 classes for each power of two; up to 64 ns each duration is its own
constexpr size_t kClasses = (64 - kBits) << kBits;

uint32_t class_of(int64_t ns) {
  const auto value = static_cast<uint64_t>(std::max<int64_t>(ns, 0));
  if (value < (1U << (kBits + 1))) return static_cast<uint32_t>(value);
  const int shift = static_cast<int>(std::bit_width(value)) - kBits - 1;
  return static_cast<uint32_t>(value >> shift) + (static_cast<uint32_t>(shift) << kBits);
}

int64_t middle_of(uint32_t index) {
  if (index < (1U << (kBits + 1))) return index;
  const int shift = static_cast<int>(index >> kBits) - 1;
  const int64_t begin = static_cast<int64_t>((index & ((1U << kBits) - 1)) | (1U << kBits)) << shift;
  return begin + ((int64_t{1} << shift) - 1) / 2;
}

}  // namespace

void DurationSpread::count_in_class(uint32_t index) {
  if (cells_.size() == kClasses) {
    ++cells_[index];
    return;
  }
  const auto at = std::lower_bound(cells_.begin(), cells_.end(), uint64_t{index} << kCountBits);
  if (at != cells_.end() && *at >> kCountBits == index) {
    ++*at;
  } else {
    cells_.insert(at, (uint64_t{index} << kCountBits) + 1);
  }
  if (cells_.size() < kMany) return;
  // All classes, then: they need not be searched.
  std::vector<uint64_t> all(kClasses);
  for (size_t i = 0; i < kClasses; ++i) all[i] = uint64_t{i} << kCountBits;
  for (const uint64_t cell : cells_) all[cell >> kCountBits] = cell;
  cells_ = std::move(all);
}

void DurationSpread::add(int64_t ns) {
  count_ += 1;
  sum_ += ns;
  max_ = std::max(max_, ns);
  if (count_ <= kFew) {
    cells_.push_back(static_cast<uint64_t>(ns));
    return;
  }
  if (count_ == kFew + 1) {
    std::vector<uint64_t> few;
    few.swap(cells_);
    for (const uint64_t each : few) count_in_class(class_of(static_cast<int64_t>(each)));
  }
  count_in_class(class_of(ns));
}

int64_t DurationSpread::percentile(double quantile) const {
  if (count_ == 0) return 0;
  const auto rank = std::max<uint64_t>(1, static_cast<uint64_t>(std::ceil(quantile * static_cast<double>(count_))));
  if (count_ <= kFew) {
    std::vector<uint64_t> few = cells_;
    const auto at = few.begin() + static_cast<std::ptrdiff_t>(std::min<uint64_t>(rank, count_) - 1);
    std::nth_element(few.begin(), at, few.end());
    return static_cast<int64_t>(*at);
  }
  uint64_t passed = 0;
  for (const uint64_t cell : cells_) {
    passed += cell & ((uint64_t{1} << kCountBits) - 1);
    if (passed >= rank) return std::min(middle_of(static_cast<uint32_t>(cell >> kCountBits)), max_);
  }
  return max_;
}

}  // namespace tarsier::analysis
