// How much of a thread's stack its samples need, and how much is therefore asked for: perf copies a fixed number of
// bytes, whether they are needed or not.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "linux/perf_sample.h"

namespace tarsier::agent {

class StackDemand {
 public:
  static constexpr std::array<uint32_t, 6> kSizes = {4 << 10,  8 << 10,  16 << 10,
                                                     24 << 10, 40 << 10, linux::PerfSampler::kMostStack};
  static constexpr uint32_t kAtFirst = 40 << 10;

  // What a sample of this thread asks for.
  [[nodiscard]] uint32_t size() const { return size_; }
  void set_size(uint32_t size) { size_ = size; }
  // A sample would have needed so many bytes. True: another size fits better from now on.
  bool needs(uint64_t bytes) {
    most_ = std::max(most_, bytes);
    if (bytes > size_ && size_ < kSizes.back()) {
      start_over(fitting(most_));
      return true;
    }
    if (++samples_ < kEnough) return false;
    const uint32_t fits = fitting(most_);
    const bool smaller = fits < size_;
    start_over(std::min(fits, size_));
    return smaller;
  }

 private:
  static constexpr int kEnough = 200;  // samples, before it may become less
  static uint32_t fitting(uint64_t bytes) {
    const uint64_t with_reserve = bytes + bytes / 8;
    for (const uint32_t size : kSizes) {
      if (with_reserve <= size) return size;
    }
    return kSizes.back();
  }
  void start_over(uint32_t size) {
    size_ = size;
    most_ = 0;
    samples_ = 0;
  }

  uint32_t size_ = kAtFirst;
  uint64_t most_ = 0;
  int samples_ = 0;
};

}  // namespace tarsier::agent
