// The parts of the stack decoder: compressed numbers, debug information, and how far a frame is built.
#include <gtest/gtest.h>

#include <cstring>
#include <initializer_list>
#include <vector>

#include "base/trusted_memory.h"
#include "hotspot/code_blob.h"
#include "hotspot/debug_info.h"
#include "hotspot/machine.h"
#include "hotspot/methods.h"

namespace tarsier::hotspot {
namespace {

TEST(CompressedStream, numbers_of_all_lengths_as_old_and_new_jvms_write_them) {
  // 191 is the largest of one byte, 192 the smallest of two; since 20 every byte is one more.
  const std::vector<uint8_t> old{5, 191, 192, 0, 255, 255, 255, 255, 3};
  CompressedStream before(old, 0, 0);
  EXPECT_EQ(before.number(), 5u);
  EXPECT_EQ(before.number(), 191u);
  EXPECT_EQ(before.number(), 192u);
  EXPECT_EQ(before.number(), 255u + (255u << 6) + (255u << 12) + (255u << 18) + (3u << 24));
  EXPECT_TRUE(before.good());
  const std::vector<uint8_t> young{6, 193, 1};
  CompressedStream since(young, 0, 1);
  EXPECT_EQ(since.number(), 5u);
  EXPECT_EQ(since.number(), 192u);
  EXPECT_TRUE(since.good());
  (void)since.number();
  EXPECT_FALSE(since.good());  // nothing is left
}

TEST(CompressedStream, signs_alternate) {
  const std::vector<uint8_t> bytes{0, 1, 2, 3, 4};
  CompressedStream stream(bytes, 0, 0);
  for (const int32_t expected : {0, -1, 1, -2, 2}) EXPECT_EQ(stream.signed_number(), expected);
}

TEST(Scopes, lead_from_the_inlined_method_to_its_caller_and_never_in_a_circle) {
  // Offset 1: the outermost, method 2 at bci 7; offset 4: inlined into it, method 1 at bci 0; offset 7: damaged.
  const std::vector<uint8_t> scopes{0, 0, 2, 8, 1, 1, 1, 7, 1, 1};
  Scope scope{};
  ASSERT_TRUE(read_scope(scopes, 4, 0, scope));
  EXPECT_EQ(scope.method_index, 1u);
  EXPECT_EQ(scope.bci, 0);
  ASSERT_TRUE(read_scope(scopes, scope.caller_offset, 0, scope));
  EXPECT_EQ(scope.method_index, 2u);
  EXPECT_EQ(scope.bci, 7);
  EXPECT_EQ(scope.caller_offset, 0u);
  EXPECT_FALSE(read_scope(scopes, 0, 0, scope));
  EXPECT_FALSE(read_scope(scopes, 7, 0, scope));  // is its own caller
  EXPECT_FALSE(read_scope(scopes, 100, 0, scope));
}

TEST(CodeBlob, debug_information_is_found_at_a_pc_or_behind_it_but_not_in_the_sentinel) {
  CodeBlob blob;
  blob.code_begin = 0x1000;
  blob.pcs = {{-1, 0, 0, 0}, {8, 10, 0, 0}, {20, 20, 0, 0}, {1 << 30, 0, 0, 0}};
  ASSERT_NE(blob.at(0x1008), nullptr);
  EXPECT_EQ(blob.at(0x1008)->scope_offset, 10);
  EXPECT_EQ(blob.at(0x1009), nullptr);
  ASSERT_NE(blob.at_or_after(0x1009), nullptr);
  EXPECT_EQ(blob.at_or_after(0x1009)->scope_offset, 20);
  EXPECT_EQ(blob.at_or_after(0x1015), nullptr);
  blob.pcs.clear();
  EXPECT_EQ(blob.at_or_after(0x1000), nullptr);
}

TEST(MethodInfo, lines_hold_until_the_next_one_begins) {
  MethodInfo method;
  method.lines = {{0, 10}, {5, 12}, {9, 11}};
  EXPECT_EQ(method.line(0), 10);
  EXPECT_EQ(method.line(4), 10);
  EXPECT_EQ(method.line(5), 12);
  EXPECT_EQ(method.line(100), 11);
  EXPECT_EQ(method.line(-1), 0);
}

// Code of one method at address 0x1000, whose prologue ends at `complete`.
struct Body {
  Body(const Machine& machine, std::vector<uint8_t> bytes, int32_t complete)
      : machine(machine), bytes(std::move(bytes)) {
    blob.kind = BlobKind::kCompiled;
    blob.code_begin = blob.entry = 0x1000;
    blob.code_end = blob.code_begin + this->bytes.size();
    blob.frame_complete = complete;
    blob.frame_bytes = 48;
  }
  FrameState at(size_t offset) const { return machine.frame_state(blob, 0x1000 + offset, bytes, offset); }

  const Machine& machine;
  std::vector<uint8_t> bytes;
  CodeBlob blob;
};
std::vector<uint8_t> words(std::initializer_list<uint32_t> code) {
  std::vector<uint8_t> bytes(code.size() * 4);
  std::memcpy(bytes.data(), code.begin(), bytes.size());
  return bytes;
}
constexpr uint32_t kNop = 0xd503201f;

TEST(Aarch64, a_small_frame_is_lowered_then_saved_and_restored_then_raised) {
  const Body code(Machine::aarch64(),
                  words({0xd100c3ff,    // sub sp, sp, #48
                         0xa9027bfd,    // stp x29, x30, [sp, #32]
                         kNop, kNop,    //
                         0xa9427bfd,    // ldp x29, x30, [sp, #32]
                         0x9100c3ff,    // add sp, sp, #48
                         0xf9402788,    // ldr x8, [x28, #72]
                         0xeb2863ff,    // cmp sp, x8
                         0x54000048,    // b.hi
                         0xd65f03c0}),  // ret
                  8);
  const FrameState expected[] = {FrameState::kNothing,  FrameState::kAllocated, FrameState::kComplete,
                                 FrameState::kComplete, FrameState::kComplete,  FrameState::kComplete,
                                 FrameState::kNothing,  FrameState::kNothing,   FrameState::kNothing,
                                 FrameState::kNothing};
  for (size_t i = 0; i < std::size(expected); ++i) EXPECT_EQ(code.at(4 * i), expected[i]) << i;
}

TEST(Aarch64, a_large_frame_is_saved_then_lowered_and_raised_then_restored) {
  const Body code(Machine::aarch64(),
                  words({0xa9bf7bfd,              // stp x29, x30, [sp, #-16]!
                         0xd28123e8, 0xcb2863ff,  // mov x8, #n; sub sp, sp, x8
                         kNop,                    //
                         0xd28123e8, 0x8b2863ff,  // mov x8, #n; add sp, sp, x8
                         0xa8c17bfd,              // ldp x29, x30, [sp], #16
                         0xd65f03c0}),            // ret
                  12);
  const FrameState expected[] = {FrameState::kNothing,   FrameState::kSavedPair, FrameState::kSavedPair,
                                 FrameState::kComplete,  FrameState::kComplete,  FrameState::kComplete,
                                 FrameState::kSavedPair, FrameState::kNothing};
  for (size_t i = 0; i < std::size(expected); ++i) EXPECT_EQ(code.at(4 * i), expected[i]) << i;
}

TEST(Aarch64, the_wrapper_of_a_native_method_leaves_then_looks_for_exceptions) {
  const Body code(Machine::aarch64(),
                  words({kNop, kNop,    //
                         0x910003bf,    // mov sp, x29
                         0xa8c17bfd,    // ldp x29, x30, [sp], #16
                         0xf9400788,    // ldr x8, [x28, #8]
                         0xb5000048,    // cbnz x8
                         0xd65f03c0}),  // ret
                  4);
  const FrameState expected[] = {FrameState::kNothing,   FrameState::kComplete, FrameState::kComplete,
                                 FrameState::kSavedPair, FrameState::kNothing,  FrameState::kNothing,
                                 FrameState::kNothing};
  for (size_t i = 0; i < std::size(expected); ++i) EXPECT_EQ(code.at(4 * i), expected[i]) << i;
}

TEST(Aarch64, what_a_stub_has_pushed_and_what_code_pops_behind_a_call) {
  const Machine& machine = Machine::aarch64();
  const auto stub = words({0xa9be0be0, 0xa90117e4, kNop});  // stp x0, x2, [sp, #-32]!; stp x4, x5, [sp, #16]
  EXPECT_EQ(machine.pushed_by_stub(stub, false), 32);
  EXPECT_EQ(machine.pushed_by_stub(words({0xa9bf7bfd}), false), std::nullopt);     // has saved its return address
  EXPECT_EQ(machine.pushed_by_stub(words({0xd10043ff, 0x14000002}), true), 0);     // another entry begins
  EXPECT_EQ(machine.popped_after_call(words({0xa8c103e4, 0xd65f03c0})), 16);       // ldp x4, x0, [sp], #16; ret
  EXPECT_EQ(machine.popped_after_call(words({kNop, 0x9100c3ff, 0xd65f03c0})), 0);  // an epilogue
  EXPECT_EQ(machine.popped_after_call(words({kNop, kNop, kNop, kNop, 0xa8c103e4})), 0);
  // A barrier of G1 (25): ldp x2, x3, [sp, #16]; ..; ldp x0, x1, [sp], #112; b
  EXPECT_EQ(machine.popped_after_call(words({0xa9410fe2, 0xa9422be6, 0xa94333eb, 0xa9443fee, 0xa8c707e0, 0x17fffe7f})),
            112);
}

TEST(Machines, code_that_linkers_make_has_no_frame) {
  const Machine& arm = Machine::aarch64();
  EXPECT_TRUE(arm.jumps_on(words({0xd503245f, 0x90000110, 0xf9400211, 0x91000210, 0xd61f0220})));  // all of it
  EXPECT_TRUE(arm.jumps_on(words({0x91000210, 0xd61f0220, kNop})));                                // its end
  EXPECT_FALSE(arm.jumps_on(words({0x90000110, kNop, 0xd61f0220})));
  EXPECT_FALSE(arm.jumps_on(words({0x90000110})));
  EXPECT_FALSE(arm.jumps_on({}));
  const Machine& intel = Machine::x86_64();
  EXPECT_TRUE(intel.jumps_on(std::vector<uint8_t>{0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25, 1, 2, 3, 4}));
  EXPECT_TRUE(intel.jumps_on(std::vector<uint8_t>{0xff, 0x25, 1, 2, 3, 4}));
  EXPECT_FALSE(intel.jumps_on(std::vector<uint8_t>{0x68, 0, 0, 0, 0}));  // push: the slow way
  EXPECT_FALSE(intel.jumps_on(std::vector<uint8_t>{0xff}));
}

TEST(Aarch64, the_instruction_that_pushed_a_frame_record_tells_the_size_of_the_frame) {
  const Machine& machine = Machine::aarch64();
  EXPECT_EQ(machine.frame_with_record(words({0xa9b87bfd, kNop, kNop})), 128);  // stp x29, x30, [sp, #-128]!
  EXPECT_EQ(machine.frame_with_record(words({0xa9b87bfd, 0xa9bf7bfd})), 16);   // the nearest one
  EXPECT_EQ(machine.frame_with_record(words({kNop, 0xa9017bfd})), std::nullopt);
  EXPECT_EQ(machine.frame_with_record({}), std::nullopt);
}

TEST(Machines, interpreted_frames_were_shorter_before_9) {
  EXPECT_EQ(Machine::aarch64().interpreter_slots(8).bcp, -7);
  EXPECT_EQ(Machine::aarch64().interpreter_slots(11).bcp, -9);
  EXPECT_EQ(Machine::x86_64().interpreter_slots(8).bcp, -7);
  EXPECT_EQ(Machine::x86_64().interpreter_slots(25).bcp, -8);
}

TEST(X8664, a_frame_is_pushed_then_lowered_and_raised_then_popped) {
  const Body code(Machine::x86_64(), {0x89, 0x84, 0x24, 0x00, 0xc0, 0xfe, 0xff,        // 0: mov [rsp - 0x14000], eax
                                      0x55,                                            // 7: push rbp
                                      0x48, 0x83, 0xec, 0x20,                          // 8: sub rsp, 32
                                      0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90,  // 12
                                      0x48, 0x83, 0xc4, 0x20,                          // 20: add rsp, 32
                                      0x5d,                                            // 24: pop rbp
                                      0x49, 0x3b, 0xa7, 0x48, 0x03, 0x00, 0x00,        // 25: cmp rsp, [r15 + 0x348]
                                      0x0f, 0x87, 0x01, 0x00, 0x00, 0x00,              // 32: ja
                                      0xc3},                                           // 38: ret
                  12);
  EXPECT_EQ(code.at(0), FrameState::kNothing);
  EXPECT_EQ(code.at(7), FrameState::kNothing);
  EXPECT_EQ(code.at(8), FrameState::kSavedPair);
  EXPECT_EQ(code.at(12), FrameState::kComplete);
  EXPECT_EQ(code.at(20), FrameState::kComplete);
  EXPECT_EQ(code.at(24), FrameState::kSavedPair);
  EXPECT_EQ(code.at(25), FrameState::kNothing);
  EXPECT_EQ(code.at(32), FrameState::kNothing);
  EXPECT_EQ(code.at(38), FrameState::kNothing);
}

TEST(X8664, methods_of_old_jvms_poll_by_reading_a_page_before_they_return) {
  const std::vector<std::vector<uint8_t>> polls = {
      {0x85, 0x05, 0x10, 0x20, 0x30, 0x00},                          // test [rip + n], eax: 8
      {0x4d, 0x8b, 0x97, 0x08, 0x01, 0x00, 0x00, 0x41, 0x85, 0x02},  // mov r10, [r15 + n]; test [r10], eax: 11
      {0x4d, 0x8b, 0x57, 0x70, 0x41, 0x85, 0x02},
      {0x49, 0xba, 0, 0, 0x30, 0x20, 0x10, 0x7f, 0, 0, 0x41, 0x85, 0x02}};  // mov r10, n: 8, far away
  for (const std::vector<uint8_t>& poll : polls) {
    std::vector<uint8_t> bytes = {0x90, 0x48, 0x83, 0xc4, 0x20, 0x5d};  // add rsp, 32; pop rbp
    bytes.insert(bytes.end(), poll.begin(), poll.end());
    bytes.push_back(0xc3);
    const size_t ret = bytes.size() - 1;
    const Body code(Machine::x86_64(), bytes, 1);
    EXPECT_EQ(code.at(5), FrameState::kSavedPair);
    EXPECT_EQ(code.at(6), FrameState::kNothing) << poll.size();
    if (poll.size() > 6) {
      EXPECT_EQ(code.at(ret - 3), FrameState::kNothing) << poll.size();
    }
    EXPECT_EQ(code.at(ret), FrameState::kNothing);
    // In the midst of a method.
    bytes.back() = 0x90;
    EXPECT_EQ(Body(Machine::x86_64(), bytes, 1).at(6), FrameState::kComplete) << poll.size();
  }
}

TEST(X8664, the_wrapper_of_a_native_method_leaves_then_looks_for_exceptions) {
  const Body code(Machine::x86_64(),
                  {0x90, 0x90,                          // 0
                   0xc9,                                // 2: leave
                   0x49, 0x83, 0x7f, 0x08, 0x00,        // 3: cmp [r15 + 8], 0
                   0x0f, 0x85, 0x01, 0x00, 0x00, 0x00,  // 8: jne
                   0xc3},                               // 14: ret
                  1);
  EXPECT_EQ(code.at(1), FrameState::kComplete);
  EXPECT_EQ(code.at(2), FrameState::kComplete);
  EXPECT_EQ(code.at(3), FrameState::kNothing);
  EXPECT_EQ(code.at(8), FrameState::kNothing);
  EXPECT_EQ(code.at(14), FrameState::kNothing);
}

TEST(X8664, the_long_form_of_the_look_for_exceptions_is_known_too) {
  const Body code(Machine::x86_64(),
                  {0x90, 0x90,                                      // 0
                   0xc9,                                            // 2: leave
                   0x49, 0x81, 0x7f, 0x08, 0x00, 0x00, 0x00, 0x00,  // 3: cmp [r15 + 8], 0
                   0x0f, 0x85, 0x01, 0x00, 0x00, 0x00,              // 11: jne
                   0xc3},                                           // 17: ret
                  1);
  EXPECT_EQ(code.at(2), FrameState::kComplete);
  EXPECT_EQ(code.at(3), FrameState::kNothing);
  EXPECT_EQ(code.at(11), FrameState::kNothing);
  EXPECT_EQ(code.at(17), FrameState::kNothing);
}

TEST(X8664, wrappers_of_native_methods_may_poll_once_their_frame_is_gone) {
  Body code(Machine::x86_64(), {0x90, 0x90,                          // 0
                                0xc9,                                // 2: leave
                                0x41, 0xf6, 0x47, 0x28, 0x01,        // 3: test [r15 + 40], 1
                                0x74, 0x02, 0x90, 0x90,              // 8: je
                                0x49, 0x83, 0x7f, 0x08, 0x00,        // 12: cmp [r15 + 8], 0
                                0x0f, 0x85, 0x01, 0x00, 0x00, 0x00,  // 17: jne
                                0xc3,                                // 23: ret
                                0x90},                               // 24: the slow way
            1);
  code.blob.kind = BlobKind::kNativeWrapper;
  EXPECT_EQ(code.at(2), FrameState::kComplete);
  for (const size_t offset : {3, 8, 12, 17, 23}) EXPECT_EQ(code.at(offset), FrameState::kNothing) << offset;
  EXPECT_EQ(code.at(24), FrameState::kComplete);
}

TEST(X8664, a_small_frame_of_c2_is_lowered_then_the_frame_pointer_is_stored) {
  const Body code(Machine::x86_64(),
                  {0x48, 0x81, 0xec, 0x18, 0x00, 0x00, 0x00,  // 0: sub rsp, 24
                   0x48, 0x89, 0x6c, 0x24, 0x10,              // 7: mov [rsp + 16], rbp
                   0x90, 0x90},                               // 12
                  14);
  EXPECT_EQ(code.at(0), FrameState::kNothing);
  EXPECT_EQ(code.at(7), FrameState::kLowered);
  EXPECT_EQ(code.at(12), FrameState::kComplete);
}

TEST(X8664, a_method_that_is_not_entered_any_more_is_still_being_entered_by_some) {
  const Body large(Machine::x86_64(),
                   {0xe9, 0x3b, 0xce, 0x51, 0x07, 0xfe, 0xff,  // 0: jmp, over the stack bang
                    0x55,                                      // 7: push rbp
                    0x48, 0x83, 0xec, 0x20,                    // 8: sub rsp, 32
                    0x90, 0x90, 0x90, 0x90},                   // 12
                   13);
  EXPECT_EQ(large.at(7), FrameState::kNothing);
  EXPECT_EQ(large.at(8), FrameState::kSavedPair);
  EXPECT_EQ(large.at(12), FrameState::kComplete);
  const Body small(Machine::x86_64(),
                   {0xe9, 0x3b, 0xce, 0x51, 0x07, 0x00, 0x00,  // 0: jmp, over sub rsp
                    0x48, 0x89, 0x6c, 0x24, 0x10,              // 7: mov [rsp + 16], rbp
                    0x90},                                     // 12
                   13);
  EXPECT_EQ(small.at(7), FrameState::kLowered);
  EXPECT_EQ(small.at(12), FrameState::kComplete);
}

TEST(X8664, the_wrapper_of_a_native_method_sets_the_frame_pointer_before_it_lowers_sp) {
  const Body code(Machine::x86_64(),
                  {0x55,                     // 0: push rbp
                   0x48, 0x8b, 0xec,         // 1: mov rbp, rsp
                   0x48, 0x83, 0xec, 0x40,   // 4: sub rsp, 64
                   0x90, 0x90, 0x90, 0x90},  // 8
                  9);
  EXPECT_EQ(code.at(1), FrameState::kSavedPair);
  EXPECT_EQ(code.at(4), FrameState::kSavedPair);
  EXPECT_EQ(code.at(8), FrameState::kComplete);
}

TEST(X8664, code_pops_what_it_has_pushed_for_a_call_but_not_the_frame_pointer) {
  const Machine& machine = Machine::x86_64();
  EXPECT_EQ(machine.popped_after_call(std::vector<uint8_t>{0x5e, 0x58, 0x85, 0xc0}), 16);       // pop rsi; pop rax
  EXPECT_EQ(machine.popped_after_call(std::vector<uint8_t>{0x41, 0x58, 0x59, 0x90}), 16);       // pop r8; pop rcx
  EXPECT_EQ(machine.popped_after_call(std::vector<uint8_t>{0x5d, 0x49, 0x3b, 0xa7, 0, 0}), 0);  // pop rbp: it returns
  EXPECT_EQ(machine.popped_after_call({}), 0);
  // push rax; push rcx; call; pop rax; pop rax: from each place on.
  const std::vector<uint8_t> around = {0x50, 0x51, 0xe8, 1, 2, 3, 4, 0x58, 0x58, 0x85, 0xc0};
  const auto from = [&](size_t at) { return machine.popped_after_call(std::span(around).subspan(at)); };
  EXPECT_EQ(from(0), 0);
  EXPECT_EQ(from(1), 8);
  EXPECT_EQ(from(2), 16);
  EXPECT_EQ(from(7), 16);
  EXPECT_EQ(from(8), 8);
  EXPECT_EQ(from(9), 0);
}

TEST(X8664, a_stub_by_which_a_method_calls_another_has_no_frame) {
  const std::vector<uint8_t> code = {0x90, 0x48, 0xbb, 1, 2, 3, 4, 5, 6, 7, 8, 0xe9, 1, 2, 3, 4};  // mov rbx, n; jmp
  EXPECT_TRUE(Machine::x86_64().is_call_stub(code, 1));
  EXPECT_TRUE(Machine::x86_64().is_call_stub(code, 11));
  EXPECT_FALSE(Machine::x86_64().is_call_stub(code, 0));
  EXPECT_FALSE(Machine::x86_64().is_call_stub({}, 0));
}

TEST(X8664, the_stub_that_moves_frames_to_the_stack_says_why_and_what_it_has_pushed) {
  const auto call = [](std::vector<uint8_t> argument, bool aligns) {
    std::vector<uint8_t> code(30, 0x90);
    code.insert(code.end(), {0x49, 0x8b, 0xff});  // mov rdi, r15
    code.insert(code.end(), argument.begin(), argument.end());
    code.insert(code.end(), {0x40, 0xf6, 0xc4, 0x0f, 0x0f, 0x84, 18, 0, 0, 0});  // test spl, 15; je
    if (aligns) code.insert(code.end(), {0x48, 0x83, 0xec, 0x08});               // sub rsp, 8
    code.insert(code.end(), {0xe8, 0, 0, 0, 0});
    return Machine::x86_64().thaw_call(code);
  };
  const auto back = call({0xbe, 1, 0, 0, 0}, true), on = call({0x33, 0xf6}, false);  // mov esi, 1; xor esi, esi
  ASSERT_TRUE(back && on);
  EXPECT_TRUE(back->is_return);
  EXPECT_EQ(back->pushed, 32);
  EXPECT_FALSE(on->is_return);
  EXPECT_EQ(on->pushed, 0);
  // mov rsi, n: 21
  const auto back21 = call({0x48, 0xc7, 0xc6, 1, 0, 0, 0}, true), on21 = call({0x48, 0xc7, 0xc6, 0, 0, 0, 0}, false);
  ASSERT_TRUE(back21 && on21);
  EXPECT_TRUE(back21->is_return);
  EXPECT_FALSE(on21->is_return);
  EXPECT_FALSE(Machine::x86_64().thaw_call(std::vector<uint8_t>(64, 0x90)));
  EXPECT_FALSE(Machine::x86_64().thaw_call({}));
}

TEST(TrustedMemory, reads_trusted_ranges_itself_and_asks_about_all_others) {
  class Nothing final : public Memory {
   public:
    bool copy(void* out, Address, size_t size) const noexcept override {
      std::memset(out, 0, size);
      return false;
    }
  } nothing;
  TrustedMemory memory(nothing);
  const uint64_t value[2] = {7, 8};
  const auto at = reinterpret_cast<Address>(value);
  EXPECT_EQ(memory.read<uint64_t>(at), std::nullopt);
  memory.trust({{at, at + sizeof(value)}});
  EXPECT_EQ(memory.read<uint64_t>(at + 8), 8u);
  EXPECT_EQ(memory.read<uint64_t>(at + 12), std::nullopt);  // leads out
}

// As the stubs of JDK 21 go back to where they have entered a virtual thread.
TEST(Machines, tell_which_field_of_the_thread_is_put_into_sp) {
  const std::vector<uint8_t> intel = {0x50, 0x49, 0x8b, 0xa7, 0x28, 0x05, 0x00, 0x00,   // mov rsp, [r15 + 0x528]
                                      0x49, 0x8b, 0x87, 0x10, 0x01, 0x00, 0x00, 0xc3};  // mov rax, [r15 + 0x110]
  EXPECT_EQ(Machine::x86_64().field_put_into_sp(intel), 0x528u);
  EXPECT_EQ(Machine::x86_64().field_put_into_sp(std::span(intel).first(7)), std::nullopt);  // cut off
  std::vector<uint8_t> several = intel;
  several.insert(several.end(), {0x49, 0x8b, 0xa7, 0x30, 0x05, 0x00, 0x00});
  EXPECT_EQ(Machine::x86_64().field_put_into_sp(several), std::nullopt);
  // ldr x8, [x28, #0x528]; mov sp, x8; ldr x9, [x28, #0x110]; add sp, sp, #16
  const uint32_t arm[] = {0xf9429788, 0x9100011f, 0xf9408b89, 0x910043ff};
  const std::span<const uint8_t> bytes(reinterpret_cast<const uint8_t*>(arm), sizeof(arm));
  EXPECT_EQ(Machine::aarch64().field_put_into_sp(bytes), 0x528u);
  EXPECT_EQ(Machine::aarch64().field_put_into_sp(bytes.subspan(4)), std::nullopt);
}

}  // namespace
}  // namespace tarsier::hotspot
