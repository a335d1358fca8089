#include "linux/usdt.h"

#include <gtest/gtest.h>

#include "linux/elf_for_test.h"

namespace tarsier::linux {
namespace {

using Place = UsdtArgument::Place;

// "constant 5", "register 3", "memory 31 + 12", "unknown"
std::string spelled(const UsdtArgument& argument) {
  const std::string kind = std::string(argument.is_signed ? "i" : "u") + std::to_string(8 * argument.size) + ' ';
  switch (argument.place) {
    case Place::kUnknown:
      return "unknown " + argument.text;
    case Place::kConstant:
      return kind + std::to_string(argument.constant);
    case Place::kRegister:
      return kind + "r" + std::to_string(argument.base);
    case Place::kMemory:
      break;
  }
  std::string text = kind + '[';
  if (argument.base != UsdtArgument::kNone) text += "r" + std::to_string(argument.base) + ' ';
  if (argument.index != UsdtArgument::kNone) {
    text += "+r" + std::to_string(argument.index) + "*" + std::to_string(argument.scale) + ' ';
  }
  return text + std::to_string(argument.constant) + ']';
}

std::string parsed(std::string_view text, uint16_t machine) {
  std::string all;
  for (const UsdtArgument& argument : parse_usdt_arguments(text, machine)) {
    all += (all.empty() ? "" : "; ") + spelled(argument);
  }
  return all;
}
std::string arm(std::string_view text) {
  return parsed(text, EM_AARCH64);
}
std::string x86(std::string_view text) {
  return parsed(text, EM_X86_64);
}

TEST(UsdtArguments, of_aarch64) {
  EXPECT_EQ(arm(""), "");
  EXPECT_EQ(arm("8@x1 -4@w0 8@[x19, 152] 1@0"), "u64 r1; i32 r0; u64 [r19 152]; u8 0");
  EXPECT_EQ(arm("-4@[sp, 12]"), "i32 [r31 12]");
  EXPECT_EQ(arm("8@[sp] 8@[sp, #-16] -4@-1 2@xzr"), "u64 [r31 0]; u64 [r31 -16]; i32 -1; u16 0");
  EXPECT_EQ(arm("8@[x0, x1] 8@[x0, x1, lsl 3]"), "u64 [r0 +r1*1 0]; u64 [r0 +r1*8 0]");
  EXPECT_EQ(arm("x5"), "u64 r5");
}

TEST(UsdtArguments, of_x86_64) {
  EXPECT_EQ(x86("8@%rax -4@$5 8@-16(%rbp) -4@$-7"), "u64 r0; i32 5; u64 [r6 -16]; i32 -7");
  EXPECT_EQ(x86("4@%r12d 1@%dil 2@%r9w 8@(%rdi)"), "u32 r12; u8 r5; u16 r9; u64 [r5 0]");
  EXPECT_EQ(x86("8@8(%rax,%rbx,4) 8@(,%r15,8) 8@(%rcx,%rdx)"), "u64 [r0 +r3*4 8]; u64 [+r15*8 0]; u64 [r2 +r1*1 0]");
  EXPECT_EQ(x86("%rsp"), "u64 r7");
}

TEST(UsdtArguments, what_needs_more_than_registers_and_memory_is_unknown_and_keeps_its_place) {
  EXPECT_EQ(x86("8@foo+4(%rip) 8@%rax"), "unknown 8@foo+4(%rip); u64 r0");
  EXPECT_EQ(x86("8@foo 8@$foo 8@4(%rip) 1@%ah 8@%xmm0 8f@%rax 3@%rax 99@%rax 8@"),
            "unknown 8@foo; unknown 8@$foo; unknown 8@4(%rip); unknown 1@%ah; unknown 8@%xmm0; unknown 8f@%rax; "
            "unknown 3@%rax; unknown 99@%rax; unknown 8@");
  EXPECT_EQ(x86("8@8(%rax,%rbx,3) 8@() 8@(,) 8@(a(b))"),
            "unknown 8@8(%rax,%rbx,3); unknown 8@(); unknown 8@(,); unknown 8@(a(b))");
  EXPECT_EQ(arm("8@d0 8@x31 8@[x0, w1, sxtw 3] 8@[x0, 1, 2] 8@[x0, x1, lsl 9] 8@[] 8@[x0"),
            "unknown 8@d0; unknown 8@x31; unknown 8@[x0, w1, sxtw 3]; unknown 8@[x0, 1, 2]; unknown 8@[x0, x1, lsl 9]; "
            "unknown 8@[]; unknown 8@[x0");
  EXPECT_EQ(arm(")))) 8@x1"), "unknown )))); u64 r1");
  EXPECT_EQ(parsed("8@x1", EM_RISCV), "unknown 8@x1");
}

TEST(Usdt, reads_probes_and_moves_them_with_their_file) {
  ElfMaker maker;
  maker.add(".note.stapsdt", SHT_NOTE,
            ElfMaker::probe(0x100, 0x1000, 0, "hotspot", "monitor__wait", "8@x0") +
                ElfMaker::note("other", 3, "not a probe") + ElfMaker::note("stapsdt", 3, "too short") +
                ElfMaker::probe(0x200, 0x1000, 0x300, "hotspot", "gc__end", ""));
  maker.add(".stapsdt.base", SHT_PROGBITS, "\0", 0x1800);
  const auto bytes = maker.make();
  const auto file = ElfFile::over(bytes);
  ASSERT_TRUE(file);
  const auto probes = usdt_probes(*file);
  ASSERT_TRUE(probes);
  ASSERT_EQ(probes->size(), 2U);
  EXPECT_EQ((*probes)[0].provider, "hotspot");
  EXPECT_EQ((*probes)[0].name, "monitor__wait");
  EXPECT_EQ((*probes)[0].address, 0x900U);
  EXPECT_EQ((*probes)[0].semaphore, 0U);
  EXPECT_EQ((*probes)[0].arguments, "8@x0");
  EXPECT_EQ((*probes)[1].address, 0xa00U);
  EXPECT_EQ((*probes)[1].semaphore, 0xb00U);
}

TEST(Usdt, a_file_without_probes_has_none) {
  const auto bytes = ElfMaker().make();
  const auto file = ElfFile::over(bytes);
  ASSERT_TRUE(file);
  const auto probes = usdt_probes(*file);
  ASSERT_TRUE(probes);
  EXPECT_TRUE(probes->empty());
}

}  // namespace
}  // namespace tarsier::linux
