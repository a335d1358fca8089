#include "hotspot/x86_follower.h"

#include <gtest/gtest.h>

#include <optional>
#include <utility>
#include <vector>

namespace tarsier::hotspot {
namespace {

constexpr Address kCode = 0x10000, kStack = 0x7000, kReturn = 0x12345, kFp = 0x7fff;

// Code that was interrupted in its first instruction, with a stack of a few words.
class Interrupted {
 public:
  Interrupted(std::vector<uint8_t> code, std::vector<uint64_t> stack)
      : code_(std::move(code)), stack_(std::move(stack)) {
    from_.at = {kCode, kStack, kFp};
    from_.stack = kStack;
    from_.bytes = {reinterpret_cast<const uint8_t*>(stack_.data()), stack_.size() * 8};
  }
  [[nodiscard]] std::optional<Machine::WayOut> way_out() const { return Machine::x86_64().way_out(code_, from_); }

 private:
  std::vector<uint8_t> code_;
  std::vector<uint64_t> stack_;
  Followed from_;
};

TEST(X86Follower, a_stub_returns_behind_all_that_it_has_pushed) {
  const Interrupted run({0x51,                                         // push rcx
                         0x48, 0x85, 0xc0,                             // test rax, rax
                         0xf2, 0x48, 0xaf,                             // repne scasq
                         0x0f, 0x85, 0x12, 0x00, 0x00, 0x00,           // jne
                         0x48, 0xc7, 0x44, 0x24, 0x20, 0x01, 0, 0, 0,  // mov qword [rsp + 32], 1
                         0x59, 0x58, 0x5d, 0xc3},                      // pop rcx; pop rax; pop rbp; ret
                        {1, 0x6666, kReturn, 3});
  const auto way = run.way_out();
  ASSERT_TRUE(way);
  EXPECT_EQ(way->caller, (Position{kReturn, kStack + 24, 0x6666}));
  EXPECT_FALSE(way->jumps);
}

TEST(X86Follower, a_loop_is_left_by_the_branch_that_leads_out_of_it) {
  const Interrupted run({0x77, 0x08,                                // ja out
                         0xc4, 0x43, 0x7b, 0xf0, 0xe8, 0x19,        // rorx r13d, r8d, 25
                         0xeb, 0xf6,                                // jmp to the beginning
                         0x48, 0x8b, 0xa4, 0x24, 0x10, 0,    0, 0,  // out: mov rsp, [rsp + 16]
                         0x5d, 0xc3},                               // pop rbp; ret
                        {1, 2, kStack + 24, 0x6666, kReturn, 3});
  const auto way = run.way_out();
  ASSERT_TRUE(way);
  EXPECT_EQ(way->caller, (Position{kReturn, kStack + 40, 0x6666}));
}

TEST(X86Follower, a_loop_without_a_way_out_ends) {
  EXPECT_FALSE(Interrupted({0x90, 0xeb, 0xfd}, {kReturn}).way_out());
  EXPECT_FALSE(Interrupted({0x77, 0x00, 0x90, 0xeb, 0xfb}, {kReturn}).way_out()) << "the branch leads into it again";
}

TEST(X86Follower, what_bit_operations_of_vectors_kind_change_is_not_known_any_more) {
  // andn rbp, rbx, rax; push rbp; pop; mov rsp, rbp; ret
  EXPECT_FALSE(Interrupted({0xc4, 0xe2, 0xe0, 0xf2, 0xe8, 0x48, 0x8b, 0xe5, 0xc3}, {kReturn}).way_out());
  // mulx r9, rax, rdx; ret
  EXPECT_TRUE(Interrupted({0xc4, 0xe2, 0xfb, 0xf6, 0xc2, 0xc3}, {kReturn}).way_out());
}

TEST(X86Follower, an_adapter_takes_its_return_address_along_and_passes_on_where_it_was) {
  const Interrupted run({0x58,                    // pop rax
                         0x4c, 0x8b, 0xec,        // mov r13, rsp
                         0x48, 0x83, 0xec, 0x20,  // sub rsp, 32
                         0x48, 0x89, 0x04, 0x24,  // mov [rsp], rax
                         0x48, 0x8b, 0x4b, 0x38,  // mov rcx, [rbx + 56]
                         0xff, 0xe1},             // jmp rcx
                        {kReturn, 0});
  const auto way = run.way_out();
  ASSERT_TRUE(way);
  EXPECT_EQ(way->caller.pc, kReturn);
  EXPECT_TRUE(way->jumps);
  EXPECT_EQ(way->jumps_to, 0u);
  EXPECT_EQ(way->passed_sp, kStack + 8);
}

TEST(X86Follower, around_a_call_registers_are_saved_and_the_stack_pointer_with_them) {
  // What a C2I adapter does behind its call of the JVM, with AVX-512.
  const std::vector<uint8_t> code = {0xc5, 0xf8, 0x77,                                      // vzeroupper
                                     0x62, 0xe1, 0x7e, 0x08, 0x6f, 0x44, 0x24, 0x68,        // vmovdqu32 xmm16, [..]
                                     0xc4, 0xe1, 0xf8, 0x90, 0xb4, 0x24, 0x70, 4,    0, 0,  // kmovq k6, [rsp + 0x470]
                                     0x48, 0x0f, 0xae, 0x0c, 0x24,                          // fxrstor64 [rsp]
                                     0x4c, 0x8b, 0x6c, 0x24, 0x08,                          // mov r13, [rsp + 8]
                                     0x48, 0x83, 0xc4, 0x10,                                // add rsp, 16
                                     0x9d,                                                  // popf
                                     0x49, 0x8b, 0xe5,                                      // mov rsp, r13
                                     0xc3};
  const auto way = Interrupted(code, {0, kStack + 32, 0, 0, kReturn}).way_out();
  ASSERT_TRUE(way);
  EXPECT_EQ(way->caller, (Position{kReturn, kStack + 40, kFp}));
}

TEST(X86Follower, a_jump_to_what_was_just_popped_is_a_return) {
  const auto way = Interrupted({0x59, 0xff, 0xe1}, {kReturn, 0}).way_out();  // pop rcx; jmp rcx
  ASSERT_TRUE(way);
  EXPECT_EQ(way->caller, (Position{kReturn, kStack + 8, kFp}));
  EXPECT_FALSE(way->jumps);
}

TEST(X86Follower, what_is_not_known_is_not_guessed) {
  EXPECT_FALSE(Interrupted({0x0f, 0x05, 0xc3}, {kReturn}).way_out());              // syscall
  EXPECT_FALSE(Interrupted({0x48, 0x2b, 0xe3, 0xc3}, {kReturn}).way_out());        // sub rsp, rbx
  EXPECT_FALSE(Interrupted({0x48, 0x83, 0xc4, 0x40, 0xc3}, {kReturn}).way_out());  // behind the stack's end
  EXPECT_FALSE(Interrupted({0xe8, 0, 0, 0, 0, 0x50, 0xc3}, {kReturn}).way_out());  // a call's result
  EXPECT_FALSE(Interrupted({0xeb, 0xfe}, {kReturn}).way_out());                    // for ever
  EXPECT_FALSE(Interrupted({}, {kReturn}).way_out());
  EXPECT_FALSE(Interrupted({0xc3}, {}).way_out());
  // test spl, 15; je, taken, to before what can be seen; ret
  EXPECT_FALSE(Interrupted({0x40, 0xf6, 0xc4, 0x0f, 0x74, 0x80, 0xc3}, {kReturn}).way_out());
  // A store of which only a part is read again.
  EXPECT_FALSE(Interrupted({0xc6, 0x44, 0x24, 0x04, 0x00, 0xc3}, {kReturn}).way_out());
}

TEST(X86Follower, a_branch_on_how_the_stack_is_aligned_is_taken_as_it_would_be) {
  const std::vector<uint8_t> code = {0x48, 0x83, 0xec, 0x10,        // 0: sub rsp, 16
                                     0xc5, 0xfb, 0x11, 0x04, 0x24,  // 4: vmovsd
                                     0x40, 0xf6, 0xc4, 0x0f,        // 9: test spl, 15
                                     0x74, 0x09,                    // 13: je 24
                                     0x48, 0x83, 0xec, 0x08,        // 15: sub rsp, 8
                                     0xe8, 0,    0,    0,    0,     // 19: call
                                     0xe8, 0,    0,    0,    0};    // 24: call
  const auto aligned = Machine::x86_64().call_ahead(code, 0x7000);
  ASSERT_TRUE(aligned);
  EXPECT_EQ(aligned->size, 29u);
  EXPECT_EQ(aligned->raised, -16);
  const auto other = Machine::x86_64().call_ahead(code, 0x7008);
  ASSERT_TRUE(other);
  EXPECT_EQ(other->size, 24u);
  EXPECT_EQ(other->raised, -24);
}

}  // namespace
}  // namespace tarsier::hotspot
