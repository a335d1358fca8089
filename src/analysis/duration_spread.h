// Mean, percentiles and maximum of many durations, in little memory: they are counted in classes that are 3 % wide.
// Classes remember their sum, so few durations are told exactly.
#pragma once

#include <cstdint>
#include <vector>

namespace tarsier::analysis {

class DurationSpread {
 public:
  void add(int64_t ns);  // not negative

  [[nodiscard]] uint64_t count() const { return count_; }
  [[nodiscard]] int64_t mean() const { return count_ > 0 ? sum_ / static_cast<int64_t>(count_) : 0; }
  [[nodiscard]] int64_t max() const { return max_; }
  // A part `quantile` of them, 0..1, is not longer.
  [[nodiscard]] int64_t percentile(double quantile) const;

 private:
  struct Class {
    uint32_t index;
    uint32_t count;
    int64_t sum;
  };
  std::vector<Class> classes_;  // by index; only those that are not empty
  uint64_t count_ = 0;
  int64_t sum_ = 0;
  int64_t max_ = 0;
};

}  // namespace tarsier::analysis
