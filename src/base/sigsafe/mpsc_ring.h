// A bounded ring of variable-size records: any number of producers, which may be signal handlers, and one consumer.
//
// Contract
// - reserve() takes room or answers nullptr at once when the ring is full: the caller counts the drop.
// - A record is seen by the consumer only after commit(); records are consumed in the order of their reservation, so a
//   producer that is preempted between the two delays the consumer, never another producer.
// - No lock, no allocation, no system call. A handler that interrupts a producer of the same thread is fine.
//
//   byte  0      4        8
//        | size | state  | payload ... | next record
//
// `size` covers the header and is a multiple of the ring's grain, as is the place of every record. The consumer zeroes
// all places where a record may begin before it gives the room back, so that one that is reserved, but not committed,
// always reads as state 0. With a large grain that is little of a large record, which stays in the caches of those who
// wrote it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tarsier {

class MpscRing {
 public:
  static constexpr size_t kHeader = 8;
  static constexpr size_t kLeastGrain = 8;

  // `memory` is zeroed, aligned to 8 and `capacity` (a power of two) bytes long; the caller owns it. `grain` is a power
  // of two; records begin and end at multiples of it.
  MpscRing(uint8_t* memory, size_t capacity, size_t grain = kLeastGrain) noexcept
      : memory_(memory), capacity_(capacity), grain_(grain) {}
  MpscRing(const MpscRing&) = delete;
  MpscRing& operator=(const MpscRing&) = delete;

  [[nodiscard]] size_t capacity() const noexcept { return capacity_; }
  // About: others reserve and consume meanwhile.
  [[nodiscard]] size_t used() const noexcept {
    const uint64_t tail = tail_.load(std::memory_order_relaxed);
    const uint64_t head = head_.load(std::memory_order_relaxed);
    return head > tail ? static_cast<size_t>(head - tail) : 0;
  }

  [[nodiscard]] uint8_t* reserve(size_t payload) noexcept {
    if (payload > capacity_ / 2) return nullptr;  // also keeps the sums below from wrapping
    const uint64_t size = (payload + kHeader + grain_ - 1) & ~(grain_ - 1);
    uint64_t head = head_.load(std::memory_order_relaxed);
    // Bounded: each failed exchange means that another producer got its room; after many of those we are in a storm
    // and dropping is the polite answer.
    for (int attempt = 0; attempt < 64; ++attempt) {
      const uint64_t offset = head & (capacity_ - 1);
      const uint64_t to_end = capacity_ - offset;
      const uint64_t skip = to_end < size ? to_end : 0;  // a record never wraps
      // Pairs with the release in consume(): the room before tail_ is zeroed when we see it free.
      const uint64_t tail = tail_.load(std::memory_order_acquire);
      // Signed: `tail` may have passed a `head` that is old by now; the exchange below then fails and loads a new one.
      if (static_cast<int64_t>(head + skip + size - tail) > static_cast<int64_t>(capacity_)) return nullptr;
      if (!head_.compare_exchange_weak(head, head + skip + size, std::memory_order_relaxed)) continue;
      if (skip != 0) publish(offset, skip, kSkipped);
      uint8_t* record = memory_ + ((head + skip) & (capacity_ - 1));
      store_size(record, size);
      return record + kHeader;
    }
    return nullptr;
  }

  void commit(uint8_t* payload) noexcept {
    // Pairs with the acquire in consume().
    state_of(payload - kHeader).store(kCommitted, std::memory_order_release);
  }
  // The room stays taken until the consumer passes it.
  void abandon(uint8_t* payload) noexcept { state_of(payload - kHeader).store(kSkipped, std::memory_order_release); }

  // Calls visit(const uint8_t* payload, size_t room) for every record committed so far, but for no more than `at_most`;
  // returns how many. `room` is the payload's size, rounded up. One consumer only.
  template <class Visit>
  size_t consume(Visit&& visit, size_t at_most = SIZE_MAX) {
    size_t count = 0;
    uint64_t tail = tail_.load(std::memory_order_relaxed);
    while (count < at_most) {
      uint8_t* record = memory_ + (tail & (capacity_ - 1));
      const uint32_t state = state_of(record).load(std::memory_order_acquire);
      if (state == 0) return count;
      const uint64_t size = load_size(record);
      if (state == kCommitted) {
        visit(static_cast<const uint8_t*>(record + kHeader), static_cast<size_t>(size - kHeader));
        ++count;
      }
      clear(record, size);
      tail += size;
      tail_.store(tail, std::memory_order_release);
    }
    return count;
  }

  // For a consumer that wants to know when all has come that was reserved until now, committed or not.
  [[nodiscard]] uint64_t reserved() const noexcept { return head_.load(std::memory_order_acquire); }
  [[nodiscard]] bool has_consumed(uint64_t reserved) const noexcept {
    return static_cast<int64_t>(tail_.load(std::memory_order_relaxed) - reserved) >= 0;
  }

  // True when every reservation has been consumed (only meaningful once the producers have stopped).
  [[nodiscard]] bool empty() const noexcept {
    return head_.load(std::memory_order_acquire) == tail_.load(std::memory_order_acquire);
  }

 private:
  static constexpr uint32_t kCommitted = 1;
  static constexpr uint32_t kSkipped = 2;

  static std::atomic<uint32_t>& word(uint8_t* record, size_t offset) noexcept {
    static_assert(sizeof(std::atomic<uint32_t>) == 4 && std::atomic<uint32_t>::is_always_lock_free);
    return *reinterpret_cast<std::atomic<uint32_t>*>(record + offset);
  }
  static std::atomic<uint32_t>& state_of(uint8_t* record) noexcept { return word(record, 4); }
  static void store_size(uint8_t* record, uint64_t size) noexcept {
    word(record, 0).store(static_cast<uint32_t>(size), std::memory_order_relaxed);
  }
  static uint64_t load_size(uint8_t* record) noexcept { return word(record, 0).load(std::memory_order_relaxed); }
  void clear(uint8_t* record, uint64_t size) const noexcept {
    if (grain_ == kLeastGrain) {
      std::memset(record + kHeader, 0, size - kHeader);
      size = kHeader;
    }
    for (uint64_t at = 0; at < size; at += grain_) state_of(record + at).store(0, std::memory_order_relaxed);
  }
  void publish(uint64_t offset, uint64_t size, uint32_t state) noexcept {
    store_size(memory_ + offset, size);
    state_of(memory_ + offset).store(state, std::memory_order_release);
  }

  uint8_t* const memory_;
  const size_t capacity_, grain_;
  // On lines of their own: producers hammer head_, the consumer writes tail_.
  alignas(64) std::atomic<uint64_t> head_{0};
  alignas(64) std::atomic<uint64_t> tail_{0};
};

}  // namespace tarsier
