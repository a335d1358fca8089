// Reads the instructions of x86_64 that stand where functions begin and around calls: how long one is and what it
// changes. Far from all that exist: what is not known is said to be so.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace tarsier::x86 {

enum Register : uint8_t {
  kRax,
  kRcx,
  kRdx,
  kRbx,
  kRsp,
  kRbp,
  kRsi,
  kRdi,
  kR8,
  kR9,
  kR10,
  kR11,
  kR12,
  kR13,
  kR14,
  kR15
};
constexpr uint8_t kRegisters = 16;
constexpr uint8_t kNoRegister = 0xff;

enum class Does : uint8_t {
  kNothing,        // that matters here: no general register and no memory is changed
  kPush,           // `from`
  kMove,           // `to` = `from`, all 64 bits
  kAddress,        // `to` = `base` + `value`
  kAddToStack,     // the stack pointer += `value`
  kChange,         // `to` = something
  kStore,          // [`base` + `value`] = `from`, 64 bits; kNoRegister: something, up to `bytes`
  kStoreAnywhere,  // to an address that can't be told
  kPad,            // a nop, or a trap that pads
  kBranch,         // a call, too; `value` bytes from its end, if a distance is in it
};

struct Instruction {
  uint8_t length = 0;
  Does does = Does::kNothing;
  uint8_t to = kNoRegister, from = kNoRegister, base = kNoRegister;
  uint8_t bytes = 8;
  bool loads = false;  // kChange: `to` = [`base` + `value`], 64 bits
  int64_t value = 0;
  // Where a 32-bit distance from the instruction's end lies in it: of a branch or of an operand. 0: nowhere.
  uint8_t distance_at = 0;
  bool short_branch = false;     // its distance has 8 bits, in its last byte
  bool always_branches = false;  // and does not come back
};

// Of the first instruction of these bytes; nothing if it is not known, or does not fit.
std::optional<Instruction> decode(std::span<const uint8_t> code);

}  // namespace tarsier::x86
