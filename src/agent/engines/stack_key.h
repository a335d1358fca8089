// A hash of a whole stack, wide enough to stand for it: decoders know by it the stacks that they have written.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tarsier::agent {

struct StackKey {
  uint64_t low, high;
  bool operator==(const StackKey&) const = default;
};
struct StackKeyHash {
  size_t operator()(const StackKey& key) const { return key.low; }
};

}  // namespace tarsier::agent
