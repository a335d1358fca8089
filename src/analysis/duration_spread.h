// Mean, percentiles and maximum of many durations, in little memory: a few are kept as they are, more of them are
// counted in classes that are 3 % wide.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace tarsier::analysis {

class DurationSpread {
 public:
  void add(int64_t ns) {  // not negative
    count_ += 1;
    sum_ += ns;
    max_ = std::max(max_, ns);
    const uint32_t at = class_of(ns) - first_;
    if (at < counts_.size()) {
      ++counts_[at];
    } else if (at < bytes_.size() && bytes_[at] < UINT8_MAX) {
      ++bytes_[at];
    } else {
      add_elsewhere(ns);
    }
  }

  [[nodiscard]] uint64_t count() const { return count_; }
  [[nodiscard]] int64_t mean() const { return count_ > 0 ? sum_ / static_cast<int64_t>(count_) : 0; }
  [[nodiscard]] int64_t max() const { return max_; }
  // A part `quantile` of them, 0..1, is not longer.
  [[nodiscard]] int64_t percentile(double quantile) const;

 private:
  std::vector<int64_t> few_;  // as long as there are few: the durations
  // Then the count of each class from the first to the last that is not empty: in bytes, which is enough for most of
  // the many things that have a spread of their own, and in words once one of them is not.
  std::vector<uint8_t> bytes_;
  std::vector<uint32_t> counts_;
  uint32_t first_ = 0;  // the class of the first count
  uint64_t count_ = 0;
  int64_t sum_ = 0;
  int64_t max_ = 0;

  static constexpr int kBits = 5;  // 32 classes for each power of two; up to 64 ns each duration is its own
  static uint32_t class_of(int64_t ns) {
    const auto value = static_cast<uint64_t>(std::max<int64_t>(ns, 0));
    if (value < (1U << (kBits + 1))) return static_cast<uint32_t>(value);
    const int shift = static_cast<int>(std::bit_width(value)) - kBits - 1;
    return static_cast<uint32_t>(value >> shift) + (static_cast<uint32_t>(shift) << kBits);
  }
  static int64_t middle_of(uint32_t index);

  void add_elsewhere(int64_t ns);
  void count_in_class(uint32_t index);
  template <class Count>
  Count& count_of(std::vector<Count>& counts, uint32_t index);
};

}  // namespace tarsier::analysis
