// The stacks that a decoder has written, by their keys. One place in memory to look at for each, since the next
// sample's is never in the processor's cache.
#pragma once

#include <cstddef>
#include <vector>

#include "agent/engines/stack_key.h"
#include "recording/constants.h"

namespace tarsier::agent {

class KnownStacks {
 public:
  // Of a stack that is not known, 0, to be filled in before the next call.
  recording::StackId& operator[](const StackKey& key) {
    if (2 * (count_ + 1) > slots_.size()) grow();
    Slot& slot = place_of(key);
    if (slot.id.value == 0) {
      slot.key = key;
      ++count_;
    }
    return slot.id;
  }
  void clear() {
    slots_ = {};
    count_ = 0;
  }

 private:
  struct Slot {
    StackKey key{};
    recording::StackId id;
  };
  Slot& place_of(const StackKey& key) {
    const size_t mask = slots_.size() - 1;
    size_t i = key.low & mask;
    while (slots_[i].id.value != 0 && slots_[i].key != key) i = (i + 1) & mask;
    return slots_[i];
  }
  void grow() {
    constexpr size_t kSmallest = 1024;
    std::vector<Slot> old = std::move(slots_);
    slots_ = std::vector<Slot>(old.empty() ? kSmallest : 2 * old.size());
    for (const Slot& slot : old) {
      if (slot.id.value != 0) place_of(slot.key) = slot;
    }
  }

  std::vector<Slot> slots_;  // a power of two, at most half full
  size_t count_ = 0;
};

}  // namespace tarsier::agent
