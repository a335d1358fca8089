// Gives equal byte strings equal numbers: open addressing over a few large blocks, no allocation per entry.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace tarsier::recording {

class Interner {
 public:
  // Numbers count up from 0.
  uint32_t intern(std::span<const uint8_t> bytes);
  [[nodiscard]] std::span<const uint8_t> bytes(uint32_t index) const {
    const Entry& entry = entries_[index];
    return {entry.bytes, entry.length};
  }
  [[nodiscard]] uint32_t size() const { return static_cast<uint32_t>(entries_.size()); }
  [[nodiscard]] size_t memory() const {
    return block_bytes_ + entries_.capacity() * sizeof(Entry) + slots_.capacity() * sizeof(uint32_t);
  }

 private:
  struct Entry {
    const uint8_t* bytes;
    uint32_t length;
    uint32_t hash;
  };
  void rehash(size_t slots);
  const uint8_t* keep(std::span<const uint8_t> bytes);

  // Not one that grows: to move megabytes while samples wait takes long.
  std::vector<std::unique_ptr<uint8_t[]>> blocks_;
  size_t block_bytes_ = 0;
  uint8_t* free_ = nullptr;  // in the last block
  size_t room_ = 0;          // there
  std::vector<Entry> entries_;
  std::vector<uint32_t> slots_;  // entry + 1, 0: free; a power of two, at most half full
};

}  // namespace tarsier::recording
