// What a sampled object stands for.
//
// Between two samples of a thread the JVM lets a random number of bytes pass, exponentially distributed with the
// interval as its mean (ThreadHeapSampler). Such gaps have no memory: whatever came before, an object of s bytes is hit
// with probability 1 - exp(-s / interval). Its weight is s divided by that, so that sums over any group of samples,
// chosen by class, thread or call chain, estimate that group's bytes without bias; weight / s estimates its objects.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace tarsier::agent {

// Interval 0: the JVM samples every object.
inline double alloc_probability(int64_t size, int64_t interval) {
  if (interval <= 0 || size <= 0) return 1;
  return -std::expm1(-static_cast<double>(size) / static_cast<double>(interval));
}

// The JVM may draw at a finer interval than we record: which share of its samples of that size we keep, so that the
// object's chance is that of the wanted interval. 1 if the JVM's draw was the coarser one.
inline double alloc_kept_share(int64_t size, int64_t drawn_with, int64_t wanted) {
  return std::min(1.0, alloc_probability(size, wanted) / alloc_probability(size, drawn_with));
}

inline int64_t alloc_weight(int64_t size, int64_t drawn_with, int64_t wanted) {
  const double chance = alloc_probability(size, drawn_with) * alloc_kept_share(size, drawn_with, wanted);
  return std::llround(static_cast<double>(size) / chance);
}

}  // namespace tarsier::agent
