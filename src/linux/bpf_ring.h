// The reading end of a BPF ring buffer (BPF_MAP_TYPE_RINGBUF): the kernel's programs write, one thread of ours reads.
//
//   page 0     where we are                  ours to write
//   page 1     where the kernel is           read-only, as all that follows
//   data       capacity bytes, mapped twice in a row, so that no record wraps
//
// A record is 8 bytes of header and its payload, rounded up to 8. The first word of the header is the payload's size
// and two flags: busy (the program is still writing it) and discarded.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/result.h"

namespace tarsier::linux {

class BpfRing {
 public:
  static constexpr uint32_t kBusy = 1U << 31, kDiscarded = 1U << 30;
  static constexpr size_t kHeader = 8;

  static Result<BpfRing> map(int fd, size_t capacity);
  // Over memory of somebody else's, laid out as above but for the pages: for tests.
  BpfRing(uint64_t* consumer, const uint64_t* producer, const uint8_t* data, size_t capacity)
      : consumer_(consumer), producer_(producer), data_(data), capacity_(capacity) {}
  BpfRing(BpfRing&& other) noexcept;
  BpfRing& operator=(BpfRing&& other) noexcept;
  ~BpfRing();

  // Bytes that wait to be consumed.
  [[nodiscard]] size_t used() const {
    return std::atomic_ref(*const_cast<uint64_t*>(producer_)).load(std::memory_order_relaxed) - *consumer_;
  }

  // Calls visit(const uint8_t* payload, size_t size) for every record that is complete, but for no more than `at_most`;
  // returns how many.
  template <class Visit>
  size_t consume(Visit&& visit, size_t at_most = SIZE_MAX) {
    size_t count = 0;
    uint64_t position = *consumer_;
    // Pairs with the kernel's release: the headers up to there are written.
    const uint64_t end = std::atomic_ref(*const_cast<uint64_t*>(producer_)).load(std::memory_order_acquire);
    while (position < end && count < at_most) {
      const uint8_t* record = data_ + (position & (capacity_ - 1));
      auto* word = reinterpret_cast<uint32_t*>(const_cast<uint8_t*>(record));
      // Pairs with the exchange by which a program submits its record.
      const uint32_t header = std::atomic_ref(*word).load(std::memory_order_acquire);
      if ((header & kBusy) != 0) break;
      const size_t size = header & ~(kBusy | kDiscarded);
      if ((header & kDiscarded) == 0) {
        visit(record + kHeader, size);
        ++count;
      }
      position += (kHeader + size + 7) & ~size_t{7};
      // Pairs with the kernel's acquire: we have read the record when its room is given back.
      std::atomic_ref(*consumer_).store(position, std::memory_order_release);
    }
    return count;
  }

 private:
  uint64_t* consumer_;
  const uint64_t* producer_;
  const uint8_t* data_;
  size_t capacity_;
  size_t page_ = 0;  // 0: not our mapping
};

}  // namespace tarsier::linux
