// Foreign memory: copy these bytes, or say that you can't. What is known about HotSpot reads through this, so the same
// code runs over the live process, over another one, and over saved pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>

namespace tarsier {

using Address = uintptr_t;

struct MemoryPiece {
  void* out;
  Address from;
  size_t size;
};

class Memory {
 public:
  virtual ~Memory() = default;
  // All or nothing; never faults.
  virtual bool copy(void* out, Address from, size_t size) const noexcept = 0;
  // Several at once, which may be cheaper. False if not all could be read; those before the first that could not have
  // been.
  virtual bool copy_all(std::span<const MemoryPiece> pieces) const noexcept {
    for (const MemoryPiece& piece : pieces) {
      if (piece.size > 0 && !copy(piece.out, piece.from, piece.size)) return false;
    }
    return true;
  }

  template <class T>
  [[nodiscard]] std::optional<T> read(Address from) const noexcept {
    static_assert(std::is_trivially_copyable_v<T>);
    T value;
    if (!copy(&value, from, sizeof(T))) return std::nullopt;
    return value;
  }
  // A C string of at most `limit` characters; nullopt if it is longer or can't be read.
  [[nodiscard]] std::optional<std::string> read_string(Address from, size_t limit) const;
};

}  // namespace tarsier
