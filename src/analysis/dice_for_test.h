// What random traces are made of; equal seeds give equal traces.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>

namespace tarsier::analysis {

class Dice {
 public:
  explicit Dice(uint32_t seed) : random_(seed) {}
  int64_t below(int64_t n) { return std::uniform_int_distribution<int64_t>(0, n - 1)(random_); }
  bool once_in(int64_t n) { return below(n) == 0; }
  template <class Vector>
  void shuffle(Vector& elements) {
    std::shuffle(elements.begin(), elements.end(), random_);
  }

 private:
  std::mt19937 random_;
};

}  // namespace tarsier::analysis
