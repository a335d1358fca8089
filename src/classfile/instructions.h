// What the instructions of Java's virtual machine look like: how long they are, where they jump, what they store to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tarsier::classfile {

enum class Jump : uint8_t { kNone, kShort, kLong, kTableSwitch, kLookupSwitch };

struct Instruction {
  uint8_t opcode = 0;  // of a `wide` one that of what is widened
  size_t size = 0;     // 0: there is none, or it is cut
  Jump jump = Jump::kNone;
  // The local variables that it changes: so many from there on.
  uint16_t stores_to = 0, stores = 0;

  [[nodiscard]] bool is_return() const { return opcode >= 172 && opcode <= 177; }
  [[nodiscard]] bool is_new() const { return opcode == 187; }
};

Instruction instruction_at(std::span<const uint8_t> code, size_t pc);

// Zeroes between a switch and its numbers, which lie at multiples of four.
constexpr size_t switch_padding(size_t pc) {
  return 3 - pc % 4;
}

}  // namespace tarsier::classfile
