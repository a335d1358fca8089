// What a sampled object stands for.
//
// Between two samples of a thread the JVM lets a random number of bytes pass, exponentially distributed with the
// interval as its mean (ThreadHeapSampler). Such gaps have no memory: whatever came before, an object of s bytes is hit
// with probability 1 - exp(-s / interval). Its weight is s divided by that, so that sums over any group of samples,
// chosen by class, thread or call chain, estimate that group's bytes without bias; weight / s estimates its objects.
#pragma once

#include <cmath>
#include <cstdint>

namespace tarsier::agent {

// Interval 0: the JVM samples every object.
inline int64_t alloc_weight(int64_t size, int64_t interval) {
  if (interval <= 0 || size <= 0) return size;
  const auto bytes = static_cast<double>(size);
  return std::llround(bytes / -std::expm1(-bytes / static_cast<double>(interval)));
}

}  // namespace tarsier::agent
