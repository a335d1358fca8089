// The reading end of a ring that perf events write, one thread of ours reads.
//
//   page 0     struct perf_event_mmap_page: where the kernel is (data_head) and where we are (data_tail)
//   data       capacity bytes, a power of two; a record may wrap around their end
//
// A record begins with struct perf_event_header, which tells its size.
#pragma once

#include <linux/perf_event.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "base/mapping.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace tarsier::linux {

class PerfRing {
 public:
  // A ring for the events of one CPU, which are directed to its descriptor. `capacity`: whole pages, a power of two.
  // What fails for want of locked memory is kNotPermitted.
  static Result<PerfRing> open(int cpu, size_t capacity);
  // Over memory of somebody else's: for tests.
  PerfRing(perf_event_mmap_page* page, const uint8_t* data, size_t capacity)
      : page_(page), data_(data), capacity_(capacity) {}

  [[nodiscard]] int fd() const { return event_.get(); }
  [[nodiscard]] size_t capacity() const { return capacity_; }

  // Calls visit(const perf_event_header&, std::span<const uint8_t> body) for the records that were there when it began,
  // in their order. The bytes hold until visit returns.
  template <class Visit>
  void consume(Visit&& visit) {
    // Pairs with the kernel's barrier: the records up to there are written.
    const uint64_t head = std::atomic_ref<__u64>(page_->data_head).load(std::memory_order_acquire);
    uint64_t tail = page_->data_tail;
    while (head - tail >= sizeof(perf_event_header)) {
      perf_event_header header;
      copy(tail, &header, sizeof(header));
      if (header.size < sizeof(header) || header.size > head - tail) {
        tail = head;  // can't be; better none of them than the same for ever
      } else {
        visit(header, bytes_at(tail + sizeof(header), header.size - sizeof(header)));
        tail += header.size;
      }
      // Pairs with the kernel's: we have read the record when its room is given back.
      std::atomic_ref<__u64>(page_->data_tail).store(tail, std::memory_order_release);
    }
  }

 private:
  PerfRing(unique_fd event, Mapping mapping, size_t page_bytes);
  void copy(uint64_t position, void* out, size_t size) const {
    const uint64_t at = position & (capacity_ - 1);
    const size_t first = std::min<uint64_t>(size, capacity_ - at);
    std::memcpy(out, data_ + at, first);
    std::memcpy(static_cast<uint8_t*>(out) + first, data_, size - first);
  }
  std::span<const uint8_t> bytes_at(uint64_t position, size_t size) {
    const uint64_t at = position & (capacity_ - 1);
    if (at + size <= capacity_) return {data_ + at, size};
    wrapped_.resize(size);
    copy(position, wrapped_.data(), size);
    return wrapped_;
  }

  unique_fd event_;
  Mapping mapping_;
  perf_event_mmap_page* page_;
  const uint8_t* data_;
  size_t capacity_;
  std::vector<uint8_t> wrapped_;  // a record that does
};

}  // namespace tarsier::linux
