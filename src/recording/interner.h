// Gives equal byte strings equal numbers: open addressing over one arena, no allocation per entry.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tarsier::recording {

class Interner {
 public:
  // Numbers count up from 0.
  uint32_t intern(std::span<const uint8_t> bytes);
  [[nodiscard]] std::span<const uint8_t> bytes(uint32_t index) const {
    const Entry& entry = entries_[index];
    return {arena_.data() + entry.offset, entry.length};
  }
  [[nodiscard]] uint32_t size() const { return static_cast<uint32_t>(entries_.size()); }
  [[nodiscard]] size_t memory() const {
    return arena_.capacity() + entries_.capacity() * sizeof(Entry) + slots_.capacity() * sizeof(uint32_t);
  }

 private:
  struct Entry {
    uint64_t offset;
    uint32_t length;
    uint32_t hash;
  };
  void rehash(size_t slots);

  std::vector<uint8_t> arena_;
  std::vector<Entry> entries_;
  std::vector<uint32_t> slots_;  // entry + 1, 0: free; a power of two, at most half full
};

}  // namespace tarsier::recording
