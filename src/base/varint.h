// LEB128 as JFR uses it: seven bits a byte, least significant first; the ninth byte, if there is one, is taken whole,
// so 64 bits never need more than nine.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tarsier {

constexpr size_t kMaxVarint = 9;

// All of them, also where fewer would do: a value that is filled in later.
inline void put_varint_padded9(uint8_t* out, uint64_t value) noexcept {
  for (unsigned i = 0; i < kMaxVarint - 1; ++i) out[i] = static_cast<uint8_t>(value >> (7 * i) | 0x80);
  out[kMaxVarint - 1] = static_cast<uint8_t>(value >> 56);
}

// Writes at most kMaxVarint bytes; returns how many.
inline size_t put_varint(uint8_t* out, uint64_t value) noexcept {
  // Negative numbers, which mean "none" in many fields: no byte of them needs to be looked at.
  if (value >> 63 != 0) {
    put_varint_padded9(out, value);
    return kMaxVarint;
  }
  size_t n = 0;
  while (value >= 0x80 && n < kMaxVarint - 1) {
    out[n++] = static_cast<uint8_t>(value | 0x80);
    value >>= 7;
  }
  out[n++] = static_cast<uint8_t>(value);
  return n;
}

// Exactly four bytes, so that a size can be filled in after its event was written. value < 2^28.
inline void put_varint_padded4(uint8_t* out, uint32_t value) noexcept {
  out[0] = static_cast<uint8_t>(value | 0x80);
  out[1] = static_cast<uint8_t>((value >> 7) | 0x80);
  out[2] = static_cast<uint8_t>((value >> 14) | 0x80);
  out[3] = static_cast<uint8_t>((value >> 21) & 0x7f);
}

// Reads one value from [p, end); returns the byte after it, or nullptr if the value does not end before `end`.
inline const uint8_t* get_varint(const uint8_t* p, const uint8_t* end, uint64_t& value) noexcept {
  uint64_t result = 0;
  for (unsigned shift = 0; p < end; shift += 7) {
    const uint64_t byte = *p++;
    if (shift == 56) {
      value = result | (byte << 56);
      return p;
    }
    result |= (byte & 0x7f) << shift;
    if (byte < 0x80) {
      value = result;
      return p;
    }
  }
  return nullptr;
}

}  // namespace tarsier
