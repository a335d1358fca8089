// Follows instructions of x86_64 as they would run, with what is known of the registers and the stack: stubs and
// adapters move their return address about, but they all bring it back before they are left.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/x86_instruction.h"
#include "hotspot/machine.h"

namespace tarsier::hotspot {

class X86Follower {
 public:
  enum class End : uint8_t {
    kReturned,
    kReturnedToPopped,  // by a jump to what it has just taken off the stack
    kJumped,            // out of the code, or to where a register or memory says
    kCalled,
    kLost,  // an instruction that is not known, or the stack pointer is not known any more
  };
  // `code`: from `code_begin` on; from.at.pc lies in it.
  X86Follower(std::span<const uint8_t> code, Address code_begin, const Followed& from);

  // Branches that depend on what is not known are not taken, unless that leads round and round: then the last one of
  // those that lead on is. Calls are expected to come back, with the stack as it was and the registers that C functions
  // preserve.
  End follow(bool to_call);

  [[nodiscard]] Address pc() const { return pc_; }
  [[nodiscard]] Address jumped_to() const { return jumped_to_; }
  [[nodiscard]] Address register_jumped_to() const { return register_jumped_to_; }
  [[nodiscard]] std::optional<uint64_t> reg(uint8_t number) const { return registers_[number]; }
  [[nodiscard]] std::optional<uint64_t> popped() const {
    return popped_ == x86::kNoRegister ? std::nullopt : registers_[popped_];
  }
  [[nodiscard]] std::optional<uint64_t> on_stack(Address at) const;

 private:
  using Value = std::optional<uint64_t>;
  struct Stored {
    Address at;
    Value value;
  };

  // A branch that was not taken, and what was known there. Of what was stored since the rest is dropped.
  struct Fork {
    Address pc;
    std::array<Value, x86::kRegisters> registers;
    size_t stored;
  };

  [[nodiscard]] std::span<const uint8_t> here() const;
  // True from the second time on.
  bool has_been_at(Address branch);
  std::optional<End> take_other_branch();
  [[nodiscard]] Value& sp() { return registers_[x86::kRsp]; }
  void store(Address at, Value value) { stored_.push_back({at, value}); }
  // Lengths of what x86::decode() does not know; 0: neither do we. What it does to the stack is done.
  size_t special(std::span<const uint8_t> code);
  size_t vector(std::span<const uint8_t> code);
  std::optional<End> step(const x86::Instruction& instruction, std::span<const uint8_t> code, bool to_call);
  std::optional<End> branch(const x86::Instruction& instruction, std::span<const uint8_t> code, bool to_call);

  std::span<const uint8_t> code_;
  Address code_begin_, pc_;
  Address jumped_to_ = 0, register_jumped_to_ = 0;
  Address stack_;
  std::span<const uint8_t> bytes_;
  std::array<Value, x86::kRegisters> registers_{};
  std::vector<Stored> stored_;  // since, the last one holds
  std::vector<Fork> forks_;
  std::vector<Address> branches_;        // that were met; by where they end
  uint8_t popped_ = x86::kNoRegister;    // by the instruction before
  std::optional<bool> zero_, was_zero_;  // the flag, of the instruction before
};

}  // namespace tarsier::hotspot
