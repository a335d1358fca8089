// Memory of this process in which some ranges are known to stay mapped: those are read without asking the kernel.
#pragma once

#include <cstring>
#include <utility>
#include <vector>

#include "base/memory.h"

namespace tarsier {

class TrustedMemory final : public Memory {
 public:
  using Ranges = std::vector<std::pair<Address, Address>>;  // [begin, end)

  // `rest` answers for all other addresses.
  explicit TrustedMemory(const Memory& rest) : rest_(rest) {}

  void trust(Ranges ranges) {
    ranges_ = std::move(ranges);
    last_ = 0;
  }

  bool copy(void* out, Address from, size_t size) const noexcept override {
    if (!is_trusted(from, size)) return rest_.copy(out, from, size);
    std::memcpy(out, reinterpret_cast<const void*>(from), size);
    return true;
  }
  bool copy_all(std::span<const MemoryPiece> pieces) const noexcept override {
    for (const MemoryPiece& piece : pieces) {
      if (piece.size > 0 && !is_trusted(piece.from, piece.size)) return rest_.copy_all(pieces);
    }
    return Memory::copy_all(pieces);
  }

 private:
  [[nodiscard]] bool is_trusted(Address from, size_t size) const noexcept {
    const auto holds = [&](const auto& range) {
      return from >= range.first && from < range.second && size <= range.second - from;
    };
    if (last_ < ranges_.size() && holds(ranges_[last_])) return true;
    for (size_t i = 0; i < ranges_.size(); ++i) {
      if (!holds(ranges_[i])) continue;
      last_ = i;
      return true;
    }
    return false;
  }

  const Memory& rest_;
  Ranges ranges_;
  mutable size_t last_ = 0;  // most questions are about the same one
};

}  // namespace tarsier
