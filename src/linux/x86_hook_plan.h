// Where and how a function of x86_64 can be led elsewhere by changing one instruction.
//
// A jump takes five bytes, and the first instruction has seldom that many. So it may be a later one: the first with
// five bytes or more, or with two, from where a short jump reaches five bytes of padding between functions. What the
// function has done before it is undone then, and done again when the original is called: that is only possible while
// all it has done is to save, move and compute, and where each value of its begin is can be told.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"

namespace tarsier::x86 {

struct Function {
  uint64_t address;
  std::span<const uint8_t> code;  // all of it
  uint8_t arguments;              // in registers: whose values must be kept
};

struct HookPlan {
  uint64_t at;                        // the instruction that becomes a jump
  uint8_t length;                     // its bytes
  uint64_t padding;                   // where a short jump goes first; 0: the jump has room
  std::vector<uint8_t> undo;          // restores registers and stack as they were at the begin; can stand anywhere
  std::vector<uint8_t> instructions;  // of the original up to and including the changed one, at their first address
};

// Five bytes of padding within [from, to]; nothing if there is none.
using FindPadding = std::function<std::optional<uint64_t>(uint64_t from, uint64_t to)>;

Result<HookPlan> plan_hook(const Function& function, const FindPadding& find_padding);

// The instructions as they must be to do the same at another place, with a jump to what follows them.
Result<std::vector<uint8_t>> moved(const HookPlan& plan, uint64_t function, uint64_t to);

constexpr uint8_t kLongJump = 5;  // bytes
std::vector<uint8_t> long_jump(uint64_t from, uint64_t to);
std::vector<uint8_t> short_jump(uint64_t from, uint64_t to);
// The code that undoes, and goes to any address.
std::vector<uint8_t> undo_and_go(const HookPlan& plan, uint64_t to);

}  // namespace tarsier::x86
