// A hash of a whole stack, wide enough to stand for it: decoders know by it the stacks that they have written.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tarsier::agent {

struct StackKey {
  uint64_t low, high;
  bool operator==(const StackKey&) const = default;
};
// The key of a stack with one thing more.
inline StackKey extend(const StackKey& key, uint64_t a, uint64_t b) {
  const auto fold = [](uint64_t x, uint64_t y) {
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(x) * y;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  };
  constexpr uint64_t kFirst = 0x9e3779b97f4a7c15, kSecond = 0xc2b2ae3d27d4eb4f, kThird = 0x165667b19e3779f9;
  const uint64_t low = fold(key.low ^ a ^ kFirst, key.high ^ b ^ kSecond);
  const uint64_t high = fold(key.high + a * kSecond + kThird, (key.low + b * kFirst) | 1);
  return {low, high};
}

}  // namespace tarsier::agent
