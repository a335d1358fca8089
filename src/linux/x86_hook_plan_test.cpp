// Functions of x86_64 as bytes, on any machine; that the code runs is the matter of function_hook_test.cpp.
#include "linux/x86_hook_plan.h"

#include <gtest/gtest.h>

#include <string>

namespace tarsier::x86 {
namespace {

using Bytes = std::vector<uint8_t>;
constexpr uint64_t kAt = 0x10000;

std::optional<uint64_t> no_padding(uint64_t, uint64_t) {
  return std::nullopt;
}

Result<HookPlan> plan(const Bytes& code, uint8_t arguments, const FindPadding& padding = no_padding) {
  return plan_hook({kAt, code, arguments}, padding);
}

TEST(X86HookPlan, takes_the_first_instruction_that_has_room_and_undoes_what_was_before) {
  // push rbp; mov rbp, rsp; push r12; mov r12, rdx; sub rsp, 0x100; ...
  const Bytes code = {0x55, 0x48, 0x89, 0xe5, 0x41, 0x54, 0x49, 0x89, 0xd4, 0x48, 0x81, 0xec, 0, 1, 0, 0, 0xc3};
  const auto found = plan(code, 6);
  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(found->at, kAt + 9);
  EXPECT_EQ(found->length, 7);
  EXPECT_EQ(found->padding, 0u);
  // push [rsp + 8] (rbp), push [rsp + 8] (r12 as pushed last), pop r12, pop rbp, lea rsp, [rsp + 16]
  const Bytes undo = {0xff, 0xb4, 0x24, 8,    0,    0,    0,    0xff, 0xb4, 0x24, 8, 0, 0,
                      0,    0x41, 0x5c, 0x5d, 0x48, 0x8d, 0xa4, 0x24, 16,   0,    0, 0};
  EXPECT_EQ(found->undo, undo);
  const auto there = moved(*found, kAt, 0x20000);
  ASSERT_TRUE(there);
  Bytes expected(code.begin(), code.begin() + 16);
  const Bytes back = long_jump(0x20010, kAt + 16);
  expected.insert(expected.end(), back.begin(), back.end());
  EXPECT_EQ(*there, expected);
}

TEST(X86HookPlan, an_argument_that_was_moved_is_moved_back) {
  // mov rdx, rdi; mov rdi, [rsi + 8]; jmp elsewhere
  const Bytes code = {0x48, 0x89, 0xfa, 0x48, 0x8b, 0x7e, 0x08, 0xe9, 0x10, 0, 0, 0};
  EXPECT_FALSE(plan(code, 3)) << "the third argument is lost by then";
  const auto found = plan(code, 2);
  ASSERT_TRUE(found) << found.error().what;
  EXPECT_EQ(found->at, kAt + 7);
  EXPECT_EQ(found->undo, (Bytes{0x52, 0x5f}));  // push rdx; pop rdi
  const auto there = moved(*found, kAt, 0x20000);
  ASSERT_TRUE(there);
  Bytes expected(code.begin(), code.begin() + 7);
  const Bytes jump = long_jump(0x20007, kAt + 12 + 0x10);
  expected.insert(expected.end(), jump.begin(), jump.end());
  EXPECT_EQ(*there, expected) << "it does not come back";
}

TEST(X86HookPlan, a_short_jump_goes_to_padding_within_its_reach) {
  // push rbp; mov rbp, rsp; push rbx; ret
  const Bytes code = {0x55, 0x48, 0x89, 0xe5, 0x53, 0xc3};
  uint64_t from = 0, to = 0;
  const auto found = plan(code, 6, [&](uint64_t low, uint64_t high) {
    from = low;
    to = high;
    return std::optional<uint64_t>(kAt - 10);
  });
  ASSERT_TRUE(found);
  EXPECT_EQ(found->at, kAt + 1);
  EXPECT_EQ(found->padding, kAt - 10);
  EXPECT_EQ(from, kAt + 3 - 128);
  EXPECT_EQ(to, kAt + 3 + 127);
  EXPECT_EQ(short_jump(found->at, found->padding), (Bytes{0xeb, 0xf3}));
  EXPECT_FALSE(plan(code, 6));
}

TEST(X86HookPlan, what_needs_its_place_is_told_its_new_one) {
  // lea rsi, [rip + 0x1000]
  const Bytes code = {0x48, 0x8d, 0x35, 0, 0x10, 0, 0, 0xc3};
  const auto found = plan(code, 6);
  ASSERT_TRUE(found);
  const auto there = moved(*found, kAt, kAt + 0x100);
  ASSERT_TRUE(there);
  EXPECT_EQ(Bytes(there->begin(), there->begin() + 7), (Bytes{0x48, 0x8d, 0x35, 0, 0x0f, 0, 0}));
  EXPECT_FALSE(moved(*found, kAt, kAt + (uint64_t{3} << 31)));
  // test edi, edi; je +2; (a short branch becomes a long one)
  const Bytes branches = {0x85, 0xff, 0x74, 0x02, 0xc3};
  const auto short_one = plan(branches, 6, [](uint64_t low, uint64_t) {
    return low == kAt + 4 - 128 ? std::optional<uint64_t>(kAt - 16) : std::nullopt;
  });
  ASSERT_TRUE(short_one);
  const auto long_one = moved(*short_one, kAt, kAt + 0x100);
  ASSERT_TRUE(long_one);
  // Behind the six bytes of the new branch, at +0x108, to +6.
  EXPECT_EQ(Bytes(long_one->begin(), long_one->begin() + 8), (Bytes{0x85, 0xff, 0x0f, 0x84, 0xfe, 0xfe, 0xff, 0xff}));
}

TEST(X86HookPlan, gives_up_where_it_can_not_tell_or_not_undo) {
  const Bytes room = {0x48, 0x81, 0xec, 0, 1, 0, 0};  // sub rsp, 0x100
  const auto after = [&](Bytes before) {
    before.insert(before.end(), room.begin(), room.end());
    return plan(before, 6);
  };
  EXPECT_TRUE(after({0x53}));
  EXPECT_FALSE(after({0xc6, 0x07, 0x01})) << "writes to memory of others";
  EXPECT_TRUE(after({0x48, 0x89, 0x7c, 0x24, 0xf8})) << "five bytes";
  EXPECT_FALSE(after({0x31, 0xff})) << "an argument is gone";
  EXPECT_FALSE(after({0x31, 0xdb})) << "a register of the caller is gone";
  EXPECT_TRUE(after({0x53, 0x31, 0xdb})) << "it was saved";
  EXPECT_TRUE(after({0x31, 0xc0})) << "nobody needs it";
  EXPECT_FALSE(after({0x48, 0x83, 0xe4, 0xf0})) << "where the stack is can't be told";
  EXPECT_FALSE(after({0x0f, 0xa2})) << "cpuid is not known";
  EXPECT_FALSE(after({0xc3}));
}

TEST(X86HookPlan, an_instruction_that_the_function_comes_back_to_is_left_alone) {
  // push rbx; [loop:] sub rsp, 0x100; jmp loop
  Bytes code = {0x53, 0x48, 0x81, 0xec, 0, 1, 0, 0, 0xeb, 0xf7};
  EXPECT_FALSE(plan(code, 6));
  code[9] = 0x10;
  EXPECT_TRUE(plan(code, 6));
  // The same by a long branch.
  code.resize(8);
  code.insert(code.end(), {0x0f, 0x85, 0xf3, 0xff, 0xff, 0xff});
  EXPECT_FALSE(plan(code, 6));
}

TEST(X86HookPlan, an_instruction_in_two_pages_is_left_alone) {
  const Bytes code = {0x48, 0x81, 0xec, 0, 1, 0, 0, 0xc3};
  EXPECT_FALSE(plan_hook({0x10ffd, code, 6}, no_padding));
  EXPECT_TRUE(plan_hook({0x10ff0, code, 6}, no_padding));
}

}  // namespace
}  // namespace tarsier::x86
