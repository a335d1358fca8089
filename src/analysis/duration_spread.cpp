#include "analysis/duration_spread.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tarsier::analysis {
namespace {

constexpr size_t kFew = 16, kMany = 64;
constexpr int kCountBits = 40;
constexpr uint64_t kCountMask = (uint64_t{1} << kCountBits) - 1;

}  // namespace

int64_t DurationSpread::middle_of(uint32_t index) {
  if (index < (1U << (kBits + 1))) return index;
  const int shift = static_cast<int>(index >> kBits) - 1;
  const int64_t begin = static_cast<int64_t>((index & ((1U << kBits) - 1)) | (1U << kBits)) << shift;
  return begin + ((int64_t{1} << shift) - 1) / 2;
}

void DurationSpread::count_in_class(uint32_t index) {
  if (!counts_.empty()) {
    if (index - first_ >= counts_.size()) make_room_for(index);
    ++counts_[index - first_];
    return;
  }
  const auto at = std::lower_bound(cells_.begin(), cells_.end(), uint64_t{index} << kCountBits);
  if (at != cells_.end() && *at >> kCountBits == index) {
    ++*at;
  } else {
    cells_.insert(at, (uint64_t{index} << kCountBits) + 1);
  }
  if (cells_.size() < kMany) return;
  const std::vector<uint64_t> cells = std::exchange(cells_, {});
  make_room_for(static_cast<uint32_t>(cells.front() >> kCountBits));
  make_room_for(static_cast<uint32_t>(cells.back() >> kCountBits));
  for (const uint64_t cell : cells) counts_[(cell >> kCountBits) - first_] = static_cast<uint32_t>(cell & kCountMask);
}

// Whole lines of the cache.
void DurationSpread::make_room_for(uint32_t index) {
  constexpr uint32_t kStep = 16;
  const uint32_t begin = index / kStep * kStep;
  if (counts_.empty()) first_ = begin;
  if (begin < first_) {
    counts_.insert(counts_.begin(), first_ - begin, 0);
    first_ = begin;
  }
  const size_t wanted = begin + kStep - first_;
  if (wanted <= counts_.size()) return;
  counts_.reserve(wanted);
  counts_.resize(wanted);
}

// While there are few, or of a class that there was none of.
void DurationSpread::add_elsewhere(int64_t ns) {
  if (count_ <= kFew) {
    cells_.push_back(static_cast<uint64_t>(ns));
    return;
  }
  if (count_ == kFew + 1) {
    for (const uint64_t each : std::exchange(cells_, {})) count_in_class(class_of(static_cast<int64_t>(each)));
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
  const auto reaches = [&](uint64_t count) { return (passed += count) >= rank; };
  const auto of_class = [&](uint64_t index) { return std::min(middle_of(static_cast<uint32_t>(index)), max_); };
  for (size_t i = 0; i < counts_.size(); ++i) {
    if (reaches(counts_[i])) return of_class(first_ + i);
  }
  for (const uint64_t cell : cells_) {
    if (reaches(cell & kCountMask)) return of_class(cell >> kCountBits);
  }
  return max_;
}

}  // namespace tarsier::analysis
