// Who holds which lock since when: written by the threads that acquire and release, each its own holds only.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tarsier::agent {

// The key names a thread and a lock, and is not 0. A key is looked for in one bucket only, all of which is looked at:
// so a slot is free again at once. Nobody waits for anybody.
class HoldTable {
 public:
  struct Slot {
    std::atomic<uint64_t> key;
    std::atomic<uint64_t> begin_ns;
    std::atomic<uint64_t> times;  // acquired and not released yet
  };
  static constexpr size_t kBucket = 16;

  // `slots`: of zeroed memory, a power of two.
  HoldTable(Slot* slots, size_t count) : slots_(slots), buckets_(count / kBucket) {}

  // False: there is no room.
  bool acquired(uint64_t key, uint32_t times, uint64_t now_ns) noexcept {
    Slot* bucket = bucket_of(key);
    if (Slot* held = find(bucket, key)) {
      held->times.store(held->times.load(std::memory_order_relaxed) + times, std::memory_order_relaxed);
      return true;
    }
    for (size_t i = 0; i < kBucket; ++i) {
      uint64_t free = 0;
      if (!bucket[i].key.compare_exchange_strong(free, key, std::memory_order_acquire, std::memory_order_relaxed)) {
        continue;
      }
      bucket[i].begin_ns.store(now_ns, std::memory_order_relaxed);
      bucket[i].times.store(times, std::memory_order_release);  // see for_each()
      return true;
    }
    return false;
  }

  struct Release {
    enum class What : uint8_t { kNotKnown, kStillHeld, kOver } what;
    uint64_t begin_ns;
  };
  Release released(uint64_t key, uint32_t times) noexcept {
    Slot* held = find(bucket_of(key), key);
    if (held == nullptr) return {Release::What::kNotKnown, 0};
    const uint64_t left = held->times.load(std::memory_order_relaxed);
    if (left > times) {
      held->times.store(left - times, std::memory_order_relaxed);
      return {Release::What::kStillHeld, 0};
    }
    const uint64_t begin = held->begin_ns.load(std::memory_order_relaxed);
    held->times.store(0, std::memory_order_relaxed);
    held->key.store(0, std::memory_order_release);  // for the compare-exchange of the next one
    return {Release::What::kOver, begin};
  }

  // All holds, once nobody acquires or releases any more: visit(key, begin_ns).
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (size_t i = 0; i < buckets_ * kBucket; ++i) {
      const uint64_t key = slots_[i].key.load(std::memory_order_relaxed);
      if (key != 0 && slots_[i].times.load(std::memory_order_acquire) != 0) {
        visit(key, slots_[i].begin_ns.load(std::memory_order_relaxed));
      }
    }
  }

 private:
  [[nodiscard]] Slot* bucket_of(uint64_t key) const noexcept {
    key *= 0x9e3779b97f4a7c15;
    return slots_ + (key >> 32) % buckets_ * kBucket;
  }
  static Slot* find(Slot* bucket, uint64_t key) noexcept {
    for (size_t i = 0; i < kBucket; ++i) {
      if (bucket[i].key.load(std::memory_order_relaxed) == key) return &bucket[i];
    }
    return nullptr;
  }

  Slot* const slots_;
  const size_t buckets_;
};

}  // namespace tarsier::agent
