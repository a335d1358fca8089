// Open-addressing tables for loading: one probe and no allocation per look-up, a few bytes per entry.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace tarsier::analysis {

inline uint64_t mix_hash(uint64_t seed, uint64_t value) {
  // splitmix64's finalizer: every input bit reaches every output bit. The seed is spread first: small numbers that were
  // just put together would often give the same.
  uint64_t h = (seed * 0xff51afd7ed558ccdULL ^ value) + 0x9e3779b97f4a7c15ULL;
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ULL;
  h = (h ^ (h >> 27)) * 0x94d049bb133111ebULL;
  return h ^ (h >> 31);
}

// Finds the index of an equal element in a table that the caller owns; the elements themselves are not copied here.
class IndexTable {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  // kNone if it is not there.
  template <class Equal>
  [[nodiscard]] uint32_t find(uint64_t hash, Equal equal) const {
    if (slots_.empty()) return kNone;
    const size_t mask = slots_.size() - 1;
    size_t slot = hash & mask;
    while (slots_[slot] != kNone && !equal(slots_[slot])) slot = (slot + 1) & mask;
    return slots_[slot];
  }

  // `equal(i)`: is element i the wanted one? `hash_of(i)`: for growing. If there is none, `candidate` is entered:
  // the caller appends the element at that index.
  template <class Equal, class HashOf>
  uint32_t find_or_enter(uint64_t hash, uint32_t candidate, Equal equal, HashOf hash_of) {
    if ((used_ + 1) * 4 > slots_.size() * 3) grow(hash_of);
    const size_t mask = slots_.size() - 1;
    for (size_t slot = hash & mask;; slot = (slot + 1) & mask) {
      if (slots_[slot] == kNone) {
        slots_[slot] = candidate;
        ++used_;
        return candidate;
      }
      if (equal(slots_[slot])) return slots_[slot];
    }
  }

 private:
  template <class HashOf>
  void grow(HashOf hash_of) {
    std::vector<uint32_t> old(slots_.empty() ? 64 : slots_.size() * 2, kNone);
    old.swap(slots_);
    const size_t mask = slots_.size() - 1;
    for (const uint32_t index : old) {
      if (index == kNone) continue;
      size_t slot = hash_of(index) & mask;
      while (slots_[slot] != kNone) slot = (slot + 1) & mask;
      slots_[slot] = index;
    }
  }

  std::vector<uint32_t> slots_;
  size_t used_ = 0;
};

// From a 64-bit key to an index. Small keys, as nearly all are in recordings of ours, need no search.
class KeyMap {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  // The key's value, which is kNone if it was not there before: the caller then assigns it (and must, before the next
  // call). The reference is valid until then.
  uint32_t& operator[](uint64_t key) {
    if (key < direct_.size()) return direct_[key];
    return key < kDirect ? direct(key) : hashed(key);
  }

  void clear() {
    // Many small chunks after a big one must not pay for its size each time.
    direct_ = std::vector<uint32_t>();
    if (slots_.size() > 64 && used_ * 16 < slots_.size()) slots_ = std::vector<Slot>();
    for (Slot& slot : slots_) slot.value = kNone;
    used_ = 0;
  }

 private:
  static constexpr uint64_t kDirect = 1 << 16;
  struct Slot {
    uint64_t key = 0;
    uint32_t value = kNone;
  };

  uint32_t& direct(uint64_t key) {
    direct_.resize(std::max<size_t>(64, std::bit_ceil(key + 1)), kNone);
    return direct_[key];
  }
  uint32_t& hashed(uint64_t key) {
    if ((used_ + 1) * 4 > slots_.size() * 3) grow();
    Slot& slot = find(slots_, key);
    if (slot.value == kNone) {
      slot.key = key;
      ++used_;
    }
    return slot.value;
  }
  static Slot& find(std::vector<Slot>& slots, uint64_t key) {
    const size_t mask = slots.size() - 1;
    // Fibonacci hashing: most keys are small consecutive numbers, which it spreads evenly for one multiplication.
    const uint64_t product = key * 0x9e3779b97f4a7c15ULL;
    size_t slot = (product >> 32 ^ product >> 50) & mask;
    while (slots[slot].value != kNone && slots[slot].key != key) slot = (slot + 1) & mask;
    return slots[slot];
  }
  void grow() {
    std::vector<Slot> bigger(slots_.empty() ? 64 : slots_.size() * 2);
    for (const Slot& slot : slots_) {
      if (slot.value != kNone) find(bigger, slot.key) = slot;
    }
    slots_.swap(bigger);
  }

  std::vector<uint32_t> direct_;  // by key, of the small ones
  std::vector<Slot> slots_;
  size_t used_ = 0;
};

}  // namespace tarsier::analysis
