#include "agent/engines/unlocked_monitor.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace tarsier::agent {
namespace {

uint32_t word_at(std::span<const uint8_t> code, size_t at) {
  uint32_t word = 0;
  std::memcpy(&word, code.data() + at, sizeof(word));
  return word;
}

struct OfThread {
  uint8_t base;
  uint32_t offset;
  bool operator==(const OfThread&) const = default;
};

// Of an instruction with 64-bit operands, this opcode and an operand at [base + offset of 32 bits].
std::optional<OfThread> wide_access(std::span<const uint8_t> code, size_t at, uint8_t opcode) {
  constexpr size_t kBytes = 7;
  if (code.size() - at < kBytes || (code[at] & 0xf8) != 0x48 || code[at + 1] != opcode) return std::nullopt;
  const uint8_t modes = code[at + 2];
  if ((modes & 0xc0) != 0x80 || (modes & 7) == 4) return std::nullopt;
  return OfThread{static_cast<uint8_t>((modes & 7) | ((code[at] & 1) << 3)), word_at(code, at + 3)};
}

}  // namespace

//   ldr xA, [xN, #offset];  cbz xA, ..;  str xzr, [xN, #offset]
uint64_t unlocked_monitor_of_aarch64(std::span<const uint8_t> code) {
  for (size_t at = 0; at + 12 <= code.size(); at += 4) {
    const uint32_t load = word_at(code, at), test = word_at(code, at + 4), clear = word_at(code, at + 8);
    const bool loads = (load & 0xffc00000) == 0xf9400000;
    const bool tests = (test & 0xff00001f) == (0xb4000000 | (load & 0x1f));
    const bool clears = (clear & 0xffc0001f) == 0xf900001f && ((clear ^ load) & 0x3fffe0) == 0;
    if (loads && tests && clears) return uint64_t{(load >> 10) & 0xfff} * 8;
  }
  return 0;
}

//   mov rA, [rN + offset];  test rA, rA;  je ..;  mov qword [rN + offset], 0
uint64_t unlocked_monitor_of_x86(std::span<const uint8_t> code) {
  constexpr size_t kClear = 11, kBetween = 16;
  for (size_t at = 0; at + kClear <= code.size(); ++at) {
    const auto cleared = wide_access(code, at, 0xc7);
    if (!cleared || word_at(code, at + 7) != 0 || (code[at + 2] & 0x38) != 0) continue;
    for (size_t before = at - std::min(at, kBetween); before < at; ++before) {
      if (wide_access(code, before, 0x8b) == cleared) return cleared->offset;
    }
  }
  return 0;
}

}  // namespace tarsier::agent
