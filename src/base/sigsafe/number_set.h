// What has been seen already: keys of 64 bits and the number that was given to each. Any thread asks and adds, nobody
// waits; there is room for a fixed number of keys.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tarsier {

class NumberSet {
 public:
  struct Slot {
    std::atomic<uint64_t> key{0};
    // The number, and below it the lower half of the key that it was given to: a slot that is emptied meanwhile may get
    // one of an older key.
    std::atomic<uint64_t> value{0};
  };

  // `slots`: a power of two, zeroed, owned by the caller.
  NumberSet(Slot* slots, size_t count) noexcept : slots_(slots), mask_(count - 1) {}

  // 0 if it is not there (yet). `key` is not 0.
  [[nodiscard]] uint32_t find(uint64_t key) const noexcept {
    for (size_t i = 0; i < kProbes; ++i) {
      const Slot& slot = slots_[(spread(key) + i) & mask_];
      const uint64_t there = slot.key.load(std::memory_order_relaxed);
      // Acquire: what was made known before the number was added is seen by whoever finds it.
      if (there == key) return number_of(slot.value.load(std::memory_order_acquire), key);
      if (there == 0) return 0;
    }
    return 0;
  }

  // Of two that add the same key one wins. False if it was not this one, or there is no room.
  bool add(uint64_t key, uint32_t number) noexcept {
    for (size_t i = 0; i < kProbes; ++i) {
      Slot& slot = slots_[(spread(key) + i) & mask_];
      uint64_t there = slot.key.load(std::memory_order_relaxed);
      if (there == 0 && slot.key.compare_exchange_strong(there, key, std::memory_order_relaxed)) {
        slot.value.store(uint64_t{number} << 32 | lower(key), std::memory_order_release);
        return true;
      }
      if (there == key) return false;
    }
    return false;
  }

  // While others may ask and add: what they add meanwhile may be forgotten, too.
  void clear() noexcept {
    for (size_t i = 0; i <= mask_; ++i) {
      slots_[i].value.store(0, std::memory_order_relaxed);
      slots_[i].key.store(0, std::memory_order_release);
    }
  }

 private:
  static constexpr size_t kProbes = 16;
  static uint64_t lower(uint64_t key) noexcept { return key & 0xffffffff; }
  static uint32_t number_of(uint64_t value, uint64_t key) noexcept {
    return lower(value) == lower(key) ? static_cast<uint32_t>(value >> 32) : 0;
  }
  static size_t spread(uint64_t key) noexcept { return static_cast<size_t>((key * 0x9e3779b97f4a7c15ULL) >> 20); }

  Slot* const slots_;
  const size_t mask_;
};

}  // namespace tarsier
