// Code into which other code is put: where everything lies afterwards, and the instructions that lie there.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "classfile/bytes.h"
#include "classfile/instructions.h"

namespace tarsier::classfile {

constexpr size_t kLongestCode = 65535;

// The instructions of a method, one after the other.
class Code {
 public:
  static Result<Code> parse(std::span<const uint8_t> code);

  struct At {
    uint32_t pc;
    Instruction instruction;
  };
  [[nodiscard]] const std::vector<At>& instructions() const { return instructions_; }
  [[nodiscard]] std::span<const uint8_t> bytes() const { return bytes_; }
  // Null: none begins there.
  [[nodiscard]] const Instruction* at(uint32_t pc) const;

 private:
  std::span<const uint8_t> bytes_;
  std::vector<At> instructions_;
  std::vector<uint32_t> index_;  // by pc, from 1 on
};

// `at_entry` comes before the first instruction, and is run once; `at_return` before each return, however it is come
// to. Neither may have a jump or a switch in it.
class NewLayout {
 public:
  NewLayout(const Code& code, std::span<const uint8_t> at_entry, std::span<const uint8_t> at_return);

  // Where a jump to it leads now; of the end of the code: the end.
  [[nodiscard]] Result<uint32_t> place_of(uint32_t pc) const;
  // The same for what describes the code from there on: what comes at entry belongs to the beginning.
  [[nodiscard]] Result<uint32_t> begin_of(uint32_t pc) const {
    if (pc == 0) return uint32_t{0};
    return place_of(pc);
  }
  [[nodiscard]] const Code& code() const { return code_; }
  // The whole of it, jumps included.
  [[nodiscard]] Result<std::vector<uint8_t>> write() const;

 private:
  [[nodiscard]] Status write_jump(const Code::At& from, Bytes& out) const;
  [[nodiscard]] Status write_switch(const Code::At& from, Bytes& out) const;
  [[nodiscard]] Result<int64_t> distance(const Code::At& from, int64_t old_distance, size_t from_place) const;

  const Code& code_;
  std::span<const uint8_t> at_entry_, at_return_;
  std::vector<uint32_t> places_;  // by pc; kNowhere: no instruction begins there
};

}  // namespace tarsier::classfile
