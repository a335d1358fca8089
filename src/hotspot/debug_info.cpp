#include "hotspot/debug_info.h"

namespace tarsier::hotspot {

uint32_t CompressedStream::number() {
  constexpr uint32_t kFirstOfLong = 192;
  constexpr int kBitsOfByte = 6, kMaxShift = 24;
  uint32_t sum = 0;
  for (int shift = 0; good_; shift += kBitsOfByte) {
    const uint32_t next = byte();
    sum += (next - excluded_) << shift;
    if (next < kFirstOfLong || shift == kMaxShift) break;
  }
  return sum;
}

int32_t CompressedStream::signed_number() {
  const uint32_t value = number();
  return static_cast<int32_t>((value >> 1) ^ (~(value & 1) + 1));
}

bool read_scope(std::span<const uint8_t> scopes, uint32_t offset, uint8_t excluded, Scope& out) {
  if (offset == 0 || offset >= scopes.size()) return false;
  CompressedStream stream(scopes, offset, excluded);
  out.caller_offset = stream.number();
  out.method_index = stream.number();
  out.bci = static_cast<int32_t>(stream.number() - 1);
  // A caller's scope is written before those inlined into it; anything else would never end.
  return stream.good() && out.caller_offset < offset;
}

}  // namespace tarsier::hotspot
