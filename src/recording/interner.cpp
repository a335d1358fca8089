#include "recording/interner.h"

#include <algorithm>
#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tarsier::recording {

uint32_t Interner::intern(std::span<const uint8_t> bytes) {
  if ((entries_.size() + 1) * 2 > slots_.size()) rehash(slots_.empty() ? 64 : slots_.size() * 2);
  const auto hash = static_cast<uint32_t>(XXH3_64bits(bytes.data(), bytes.size()));
  const size_t mask = slots_.size() - 1;
  size_t slot = hash & mask;
  for (; slots_[slot] != 0; slot = (slot + 1) & mask) {
    const Entry& entry = entries_[slots_[slot] - 1];
    if (entry.hash == hash && entry.length == bytes.size() &&
        (bytes.empty() || std::memcmp(entry.bytes, bytes.data(), bytes.size()) == 0)) {
      return slots_[slot] - 1;
    }
  }
  const auto index = static_cast<uint32_t>(entries_.size());
  entries_.push_back({keep(bytes), static_cast<uint32_t>(bytes.size()), hash});
  slots_[slot] = index + 1;
  return index;
}

const uint8_t* Interner::keep(std::span<const uint8_t> bytes) {
  constexpr size_t kSmallest = 4 << 10, kLargest = 252 << 10;  // with what heaps put around it no more than 256
  // Also for nothing at all: a text at no address is null, and none is empty.
  if (bytes.size() > room_ || free_ == nullptr) {
    room_ = std::max(bytes.size(), std::clamp(block_bytes_, kSmallest, kLargest));
    blocks_.push_back(std::make_unique_for_overwrite<uint8_t[]>(room_));
    free_ = blocks_.back().get();
    block_bytes_ += room_;
  }
  const uint8_t* kept = free_;
  if (!bytes.empty()) std::memcpy(free_, bytes.data(), bytes.size());
  free_ += bytes.size();
  room_ -= bytes.size();
  return kept;
}

void Interner::rehash(size_t slots) {
  slots_.assign(slots, 0);
  const size_t mask = slots - 1;
  for (size_t i = 0; i < entries_.size(); ++i) {
    size_t slot = entries_[i].hash & mask;
    while (slots_[slot] != 0) slot = (slot + 1) & mask;
    slots_[slot] = static_cast<uint32_t>(i + 1);
  }
}

}  // namespace tarsier::recording
