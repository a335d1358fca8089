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
  void trust(Ranges ranges) { ranges_ = std::move(ranges); }

  bool copy(void* out, Address from, size_t size) const noexcept override {
    for (const auto& [begin, end] : ranges_) {
      if (from < begin || from >= end || size > end - from) continue;
      std::memcpy(out, reinterpret_cast<const void*>(from), size);
      return true;
    }
    return rest_.copy(out, from, size);
  }
  bool copy_all(std::span<const MemoryPiece> pieces) const noexcept override { return rest_.copy_all(pieces); }

 private:
  const Memory& rest_;
  Ranges ranges_;
};

}  // namespace tarsier
