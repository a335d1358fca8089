// The ring between whoever copies the stacks of sleeping threads and the decoder: first the stack, to be kept; then,
// when the wait is over, its length.
#pragma once

#include <cstddef>
#include <cstring>

#include "agent/engines/wait_account.h"
#include "base/mapping.h"
#include "base/sigsafe/mpsc_ring.h"
#include "capture/fragment_capture.h"
#include "capture/java_bottoms.h"

namespace tarsier::agent {

class WaitRecords {
 public:
  explicit WaitRecords(size_t bytes) : memory_(bytes), ring_(memory_.data(), memory_.size()) {}

  [[nodiscard]] bool has_memory() const { return static_cast<bool>(memory_); }
  [[nodiscard]] size_t bytes() const { return memory_.size(); }
  MpscRing& ring() { return ring_; }
  capture::JavaBottoms& bottoms() { return bottoms_; }

  // False if there is no room.
  bool write_end(uint32_t serial, const WaitAccount::Wait& wait, bool ongoing) {
    capture::SampleHeader header{};
    header.time_ns = static_cast<uint64_t>(wait.began.count);
    header.weight_ns = static_cast<uint64_t>(wait.length.count);
    header.thread = serial;
    header.waits = true;
    header.repeated = true;
    header.ongoing = ongoing;
    header.from_before = wait.from_before;
    uint8_t* out = ring_.reserve(sizeof(header));
    if (out == nullptr) return false;
    std::memcpy(out, &header, sizeof(header));
    ring_.commit(out);
    return true;
  }

  template <class Visit>
  size_t consume(const Visit& visit, size_t at_most) {
    return ring_.consume(
        [&](const uint8_t* record, size_t) { visit(*reinterpret_cast<const capture::FragmentRecord*>(record)); },
        at_most);
  }

 private:
  Mapping memory_;
  MpscRing ring_;
  capture::JavaBottoms bottoms_;
};

}  // namespace tarsier::agent
