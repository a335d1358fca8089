#include "analysis/duration_spread.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tarsier::analysis {
namespace {

constexpr size_t kFew = 16;

}  // namespace

int64_t DurationSpread::middle_of(uint32_t index) {
  if (index < (1U << (kBits + 1))) return index;
  const int shift = static_cast<int>(index >> kBits) - 1;
  const int64_t begin = static_cast<int64_t>((index & ((1U << kBits) - 1)) | (1U << kBits)) << shift;
  return begin + ((int64_t{1} << shift) - 1) / 2;
}

// Makes room by whole steps.
template <class Count>
Count& DurationSpread::count_of(std::vector<Count>& counts, uint32_t index) {
  constexpr uint32_t kStep = 16;
  const uint32_t begin = index / kStep * kStep;
  if (counts.empty()) first_ = begin;
  if (begin < first_) {
    counts.insert(counts.begin(), first_ - begin, 0);
    first_ = begin;
  }
  const size_t wanted = begin + kStep - first_;
  if (wanted > counts.size()) {
    counts.reserve(wanted);
    counts.resize(wanted);
  }
  return counts[index - first_];
}

void DurationSpread::count_in_class(uint32_t index) {
  if (counts_.empty()) {
    uint8_t& byte = count_of(bytes_, index);
    if (byte < UINT8_MAX) {
      ++byte;
      return;
    }
    counts_.assign(bytes_.begin(), bytes_.end());
    bytes_ = {};
  }
  ++count_of(counts_, index);
}

// While there are few, of a class that there was none of, or of one that is too many for a byte.
void DurationSpread::add_elsewhere(int64_t ns) {
  if (count_ <= kFew) {
    few_.push_back(ns);
    return;
  }
  if (count_ == kFew + 1) {
    for (const int64_t each : std::exchange(few_, {})) count_in_class(class_of(each));
  }
  count_in_class(class_of(ns));
}

int64_t DurationSpread::percentile(double quantile) const {
  if (count_ == 0) return 0;
  const auto rank = std::max<uint64_t>(1, static_cast<uint64_t>(std::ceil(quantile * static_cast<double>(count_))));
  if (count_ <= kFew) {
    std::vector<int64_t> few = few_;
    const auto at = few.begin() + static_cast<std::ptrdiff_t>(std::min<uint64_t>(rank, count_) - 1);
    std::nth_element(few.begin(), at, few.end());
    return *at;
  }
  uint64_t passed = 0;
  for (uint32_t i = 0; i < std::max(bytes_.size(), counts_.size()); ++i) {
    passed += counts_.empty() ? bytes_[i] : counts_[i];
    if (passed >= rank) return std::min(middle_of(first_ + i), max_);
  }
  return max_;
}

}  // namespace tarsier::analysis
