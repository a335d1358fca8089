// An independent check of a decoded stack: does the bytecode at the caller's index call a method of the callee's name?
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/memory.h"
#include "hotspot/methods.h"
#include "hotspot/vm_structs.h"

namespace tarsier::hotspot {

enum class Edge : uint8_t { kRight, kWrong, kUncheckable };

class EdgeCheck {
 public:
  // Nothing if the JVM does not tell how it keeps constants.
  static std::optional<EdgeCheck> find(const Memory& memory, const VmStructs& structs);

  // Both must be loaded now. What method handles call can't be checked: their names stand in no bytecode.
  [[nodiscard]] Edge check(const MethodInfo& caller, int32_t bci, const MethodInfo& callee) const;

 private:
  explicit EdgeCheck(const Memory& memory) : memory_(&memory) {}
  // Of a call: which constant it is of, and, once it was made, which method it leads to, if it is always the same.
  // Before 22 there are two fields for that, and other things as well.
  struct CacheEntry {
    uint16_t pool_index = 0;
    std::array<Address, 2> methods{};

    [[nodiscard]] bool is_about(Address method) const { return methods[0] == method || methods[1] == method; }
  };
  [[nodiscard]] std::optional<CacheEntry> cache_entry(Address cache, uint16_t cache_index) const;
  class PoolPart;
  [[nodiscard]] std::optional<Address> called_name(Address pool, uint16_t index) const;

  const Memory* memory_;
  uint64_t cache_ = 0, pool_size_ = 0, symbol_length_ = 0, symbol_body_ = 0;
  std::optional<uint64_t> resolved_methods_;  // since 22
  uint64_t entry_size_ = 0, entry_index_ = 0, cache_size_ = 0;
  std::optional<uint64_t> entry_methods_;
};

}  // namespace tarsier::hotspot
