#include "base/x86_instruction.h"

#include <gtest/gtest.h>

#include <vector>

namespace tarsier::x86 {
namespace {

using Bytes = std::vector<uint8_t>;

TEST(X86Instruction, lengths_are_those_of_the_assembler) {
  const std::pair<Bytes, const char*> known[] = {
      {{0x55}, "push rbp"},
      {{0x41, 0x57}, "push r15"},
      {{0x48, 0x89, 0xe5}, "mov rbp, rsp"},
      {{0xf3, 0x0f, 0x1e, 0xfa}, "endbr64"},
      {{0x48, 0x81, 0xec, 0xb8, 0, 0, 0}, "sub rsp, 0xb8"},
      {{0x4c, 0x8d, 0xaf, 0x50, 0xfd, 0xff, 0xff}, "lea r13, [rdi - 0x2b0]"},
      {{0x48, 0x8d, 0x35, 0x36, 0xc0, 0x41, 0}, "lea rsi, [rip + 0x41c036]"},
      {{0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0}, "mov rax, fs:0x28"},
      {{0x48, 0x89, 0xb5, 0x48, 0xff, 0xff, 0xff}, "mov [rbp - 0xb8], rsi"},
      {{0xc7, 0x45, 0xf0, 1, 0, 0, 0}, "mov dword [rbp - 0x10], 1"},
      {{0x48, 0xc7, 0x44, 0x24, 0x08, 0, 0, 0, 0}, "mov qword [rsp + 8], 0"},
      {{0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0}, "nop word cs:[rax + rax]"},
      {{0x0f, 0xb6, 0xd2}, "movzx edx, dl"},
      {{0x49, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8}, "movabs r8, .."},
      {{0xe8, 1, 2, 3, 4}, "call"},
      {{0x0f, 0x84, 1, 2, 3, 4}, "je"},
      {{0x80, 0x3d, 1, 2, 3, 4, 0}, "cmp byte [rip + ..], 0"},
      {{0xf6, 0x47, 0x10, 0x01}, "test byte [rdi + 0x10], 1"},
      {{0xff, 0x15, 1, 2, 3, 4}, "call [rip + ..]"},
      {{0x41, 0xff, 0xd2}, "call r10"},
      {{0xc5, 0xf8, 0x77}, "vzeroupper"},
  };
  for (const auto& [code, name] : known) {
    Bytes longer = code;
    longer.resize(code.size() + 16, 0x90);
    const auto instruction = decode(longer);
    ASSERT_TRUE(instruction) << name;
    EXPECT_EQ(instruction->length, code.size()) << name;
    EXPECT_FALSE(decode(std::span(code).first(code.size() - 1))) << name << ": cut";
  }
  EXPECT_FALSE(decode(Bytes{0x0f, 0x0b, 0x90}));        // ud2
  EXPECT_FALSE(decode(Bytes{0xc3}));                    // ret
  EXPECT_FALSE(decode(Bytes{0xb4, 0x01, 0x90, 0x90}));  // mov ah, 1: not all of a register
}

TEST(X86Instruction, tells_where_branches_go) {
  const auto jump = decode(Bytes{0xe9, 0xf0, 0xfc, 0xff, 0xff});
  ASSERT_TRUE(jump);
  EXPECT_TRUE(jump->does == Does::kBranch && jump->always_branches && !jump->short_branch);
  EXPECT_EQ(jump->value, -0x310);
  const auto taken_sometimes = decode(Bytes{0x75, 0x10});
  ASSERT_TRUE(taken_sometimes);
  EXPECT_TRUE(taken_sometimes->short_branch && !taken_sometimes->always_branches);
  EXPECT_EQ(taken_sometimes->value, 0x10);
  EXPECT_FALSE(decode(Bytes{0xe8, 0, 0, 0, 0})->always_branches) << "a call comes back";
}

}  // namespace
}  // namespace tarsier::x86
