// Reading numbers fast where the bytes allow it. `end` is the end of the memory, not of the value's container: callers
// check the position afterwards.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "base/varint.h"

namespace tarsier::recording {

// The seven-bit groups of a little-endian word, pushed together.
inline uint64_t join_sevens(uint64_t w) noexcept {
  w = (w & 0x007f007f007f007f) | (w & 0x7f007f007f007f00) >> 1;
  w = (w & 0x00003fff00003fff) | (w & 0x3fff00003fff0000) >> 2;
  return (w & 0x0fffffff) | (w & 0x0fffffff00000000) >> 4;
}

constexpr uint64_t kHighBits = 0x8080808080808080;

inline uint64_t load_le64(const uint8_t* p) noexcept {
  static_assert(std::endian::native == std::endian::little);
  uint64_t w;
  std::memcpy(&w, p, sizeof w);
  return w;
}

// nullptr: the memory ends first.
inline const uint8_t* fast_varint(const uint8_t* p, const uint8_t* end, uint64_t& value) noexcept {
  if (end - p < static_cast<ptrdiff_t>(kMaxVarint)) return get_varint(p, end, value);
  if (*p < 0x80) {
    value = *p;
    return p + 1;
  }
  const uint64_t w = load_le64(p);
  const uint64_t stops = ~w & kHighBits;
  if (stops == 0) {
    value = join_sevens(w) | static_cast<uint64_t>(p[8]) << 56;
    return p + 9;
  }
  const int bits = std::countr_zero(stops);  // of the last byte's top bit
  value = join_sevens(w & (~uint64_t{0} >> (63 - bits)));
  return p + bits / 8 + 1;
}

inline const uint8_t* skip_varints(const uint8_t* p, const uint8_t* end, uint64_t count) noexcept {
  uint64_t ignored;
  while (count > 0) {
    if (count >= 8 && end - p >= 8) {
      // All that end within these eight bytes; one that does not starts the next round, and one of nine bytes, whose
      // last byte may have its top bit set, never ends within.
      const uint64_t stops = ~load_le64(p) & kHighBits;
      if (stops != 0) {
        count -= static_cast<uint64_t>(std::popcount(stops));
        p += 8 - std::countl_zero(stops) / 8;
        continue;
      }
    }
    p = fast_varint(p, end, ignored);
    if (!p) return nullptr;
    --count;
  }
  return p;
}

}  // namespace tarsier::recording
