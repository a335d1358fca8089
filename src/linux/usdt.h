// The static probes (USDT) of a library: where they are and where their arguments lie, from the notes that
// sys/sdt.h leaves in the section .note.stapsdt.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "linux/elf.h"

namespace tarsier::linux {

// Where one argument of a probe lies when the probe is reached.
struct UsdtArgument {
  enum class Place : uint8_t {
    kConstant,  // `constant`
    kRegister,  // register `base`
    kMemory,    // at base + index * scale + constant, what is there of these
    kUnknown,   // an operand that can't be had from registers and memory alone: a symbol, a vector register, ...
  };
  static constexpr int8_t kNone = -1;

  std::string text;  // as the note has it: "-4@[sp, 12]"
  Place place = Place::kUnknown;
  uint8_t size = 8;  // bytes: 1, 2, 4 or 8
  bool is_signed = false;
  // Registers by number: aarch64 0..30 and 31 for sp; x86_64 as DWARF counts them: rax 0, rdx, rcx, rbx, rsi, rdi,
  // rbp, rsp, r8 8 .. r15 15.
  int8_t base = kNone, index = kNone;
  uint8_t scale = 1;
  int64_t constant = 0;
};

struct UsdtProbe {
  std::string provider, name;
  uint64_t address = 0;    // of the probe's NOP, as the file is linked
  uint64_t semaphore = 0;  // address of its 16-bit counter; 0: has none
  std::string arguments;   // as the note has them
};

// In the order of the file; a probe that the compiler has copied is there several times. Empty if the library has none.
Result<std::vector<UsdtProbe>> usdt_probes(const ElfFile& file);

// One for each operand; those that are not understood are kUnknown. `machine`: EM_AARCH64 or EM_X86_64; for others all
// are.
std::vector<UsdtArgument> parse_usdt_arguments(std::string_view text, uint16_t machine);

}  // namespace tarsier::linux
