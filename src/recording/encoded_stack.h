// A stack whose inner frames come and go while the outer ones stay, as those of a thread's samples do: what is encoded
// of it is encoded once. Made by a writer, and of use until that forgets its constants.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

namespace tarsier::recording {

class EncodedStack {
 public:
  [[nodiscard]] size_t size() const { return frames_.size(); }
  [[nodiscard]] bool empty() const { return frames_.empty(); }
  void clear() { frames_.clear(); }
  // Leaves the outermost ones.
  void shorten(size_t frames) {
    if (frames < frames_.size()) frames_.resize(frames);
  }

 private:
  friend class ConstantTables;
  struct Frame {
    uint32_t bytes;   // of this one and those outside of it
    uint32_t method;  // its index
  };
  // The new innermost one.
  void add(std::span<const uint8_t> encoded, uint32_t method) {
    const size_t outer = used(), all = outer + encoded.size();
    if (all > capacity_) grow(all);
    std::memcpy(end() - all, encoded.data(), encoded.size());
    frames_.push_back({static_cast<uint32_t>(all), method});
  }
  [[nodiscard]] std::span<const uint8_t> bytes() const { return {end() - used(), used()}; }

  [[nodiscard]] size_t used() const { return frames_.empty() ? 0 : frames_.back().bytes; }
  [[nodiscard]] uint8_t* end() const { return bytes_.get() + capacity_; }
  void grow(size_t needed) {
    constexpr size_t kSmallest = 512;
    const size_t capacity = std::max({2 * capacity_, needed, kSmallest});
    auto larger = std::make_unique_for_overwrite<uint8_t[]>(capacity);
    if (used() > 0) std::memcpy(larger.get() + capacity - used(), end() - used(), used());
    bytes_ = std::move(larger);
    capacity_ = capacity;
  }

  std::vector<Frame> frames_;         // outermost first
  std::unique_ptr<uint8_t[]> bytes_;  // innermost first, up to its end
  size_t capacity_ = 0;
  uint32_t used_in_chunk_ = 0;  // the chunk that has all methods
};

}  // namespace tarsier::recording
