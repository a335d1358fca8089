// How long something took, many times: counted by length, so that any percentile can be told, to 3 %. Any thread.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/units.h"

namespace tarsier::agent {

class Latencies {
 public:
  void add(Nanos latency) noexcept {
    const auto ns = static_cast<uint64_t>(std::max<int64_t>(latency.count, 0));
    counts_[bucket_of(ns)].fetch_add(1, std::memory_order_relaxed);
    uint64_t longest = longest_.load(std::memory_order_relaxed);
    while (ns > longest && !longest_.compare_exchange_weak(longest, ns, std::memory_order_relaxed)) {
    }
  }
  // So many in a hundred took no longer. 0 if there were none.
  [[nodiscard]] Nanos percentile(double percent) const noexcept {
    uint64_t all = 0;
    for (const auto& count : counts_) all += count.load(std::memory_order_relaxed);
    const auto wanted = static_cast<uint64_t>(static_cast<double>(all) * percent / 100);
    uint64_t seen = 0;
    for (size_t i = 0; i < counts_.size(); ++i) {
      seen += counts_[i].load(std::memory_order_relaxed);
      if (seen > wanted) return std::min(Nanos(static_cast<int64_t>(middle_of(i))), longest());
    }
    return all == 0 ? Nanos() : longest();
  }
  [[nodiscard]] Nanos longest() const noexcept {
    return Nanos(static_cast<int64_t>(longest_.load(std::memory_order_relaxed)));
  }

 private:
  // Sixteen to each power of two; lengths below sixteen have one each.
  static constexpr unsigned kBits = 4;
  static constexpr size_t kPart = 1 << kBits;
  static constexpr unsigned kMostBits = 42;  // more than an hour

  static size_t bucket_of(uint64_t ns) noexcept {
    if (ns < kPart) return ns;
    const auto exponent = std::min<unsigned>(static_cast<unsigned>(std::bit_width(ns)) - 1, kMostBits);
    const uint64_t within = exponent == kMostBits ? 0 : (ns >> (exponent - kBits)) - kPart;
    return (exponent - kBits + 1) * kPart + within;
  }
  static uint64_t middle_of(size_t bucket) noexcept {
    if (bucket < kPart) return bucket;
    const size_t shift = bucket / kPart - 1;
    return ((kPart + bucket % kPart) << shift) + ((uint64_t{1} << shift) >> 1);
  }

  std::array<std::atomic<uint64_t>, (kMostBits - kBits + 2) * kPart> counts_{};
  std::atomic<uint64_t> longest_{0};
};

}  // namespace tarsier::agent
