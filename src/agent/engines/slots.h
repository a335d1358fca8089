// Numbers to be given away and taken back. One that was taken back rests for a while: whoever had it may still be about
// to use it, as an eBPF program that runs on another CPU is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

namespace tarsier::agent {

class Slots {
 public:
  explicit Slots(uint32_t count) : count_(count) {}

  std::optional<uint32_t> take() {
    const bool has_new = given_ < count_;
    if (has_new && resting_.size() < kRest) return given_++;
    if (resting_.empty()) return std::nullopt;
    const uint32_t slot = resting_.front();
    resting_.pop_front();
    return slot;
  }
  void give_back(uint32_t slot) { resting_.push_back(slot); }

 private:
  static constexpr size_t kRest = 256;  // so many others go before it
  const uint32_t count_;
  uint32_t given_ = 0;
  std::deque<uint32_t> resting_;
};

}  // namespace tarsier::agent
