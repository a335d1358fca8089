#include "hotspot/lock_scope.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <vector>

#include "hotspot/machine.h"

namespace tarsier::hotspot {
namespace {

constexpr uint32_t kArmNop = 0xd503201f, kArmRet = 0xd65f03c0;

std::vector<uint8_t> arm_words(const std::vector<uint32_t>& instructions) {
  std::vector<uint8_t> bytes(instructions.size() * 4);
  std::memcpy(bytes.data(), instructions.data(), bytes.size());
  return bytes;
}

// Numbers below 192 are one byte each.
class LockScope : public testing::Test {
 protected:
  LockScope() {
    blob.code_begin = 0x1000;
    blob.code_end = 0x2000;
    blob.scopes.push_back(0xff);  // an offset of 0 means that there is nothing
  }
  static uint8_t on_stack(int bytes) { return static_cast<uint8_t>(bytes / 4 << 5 | 2); }
  uint8_t put(const std::vector<uint8_t>& bytes) {
    const auto at = static_cast<uint8_t>(blob.scopes.size());
    blob.scopes.insert(blob.scopes.end(), bytes.begin(), bytes.end());
    return at;
  }
  // One monitor, whose owner is in a register.
  uint8_t monitors(int slot) { return put({1, on_stack(slot), 0, 0x12, 0}); }
  uint8_t scope(uint8_t caller, uint8_t method, uint8_t monitors) { return put({caller, method, 1, 0, 0, monitors}); }
  void desc(int32_t pc, uint8_t scope_offset) { blob.pcs.push_back({pc, scope_offset, 0, 0}); }
  uint32_t find(int64_t slot, Address near) { return find_lock_scope(blob, 0, slot, 0x1000 + near); }

  CodeBlob blob;
};

TEST_F(LockScope, is_the_method_that_has_the_record_not_who_it_has_called) {
  const uint8_t outer = scope(0, 1, 0);
  const uint8_t locks = scope(outer, 2, monitors(16));
  const uint8_t called = scope(locks, 3, 0);
  desc(0x20, called);
  EXPECT_EQ(find(16, 0x30), locks);
  EXPECT_EQ(find(20, 0x30), 0U);
}

TEST_F(LockScope, of_several_it_is_the_one_nearest_before) {
  const uint8_t outer = scope(0, 1, 0);
  const uint8_t one = scope(outer, 2, monitors(16)), other = scope(outer, 3, monitors(16));
  desc(0x20, one);
  desc(0x80, other);
  EXPECT_EQ(find(16, 0x40), one);
  EXPECT_EQ(find(16, 0x90), other);
  EXPECT_EQ(find(16, 0x10), one);  // none before: the first behind
}

TEST_F(LockScope, where_the_release_is_described_that_is_believed_if_it_has_the_monitor) {
  const uint8_t outer = scope(0, 1, 0);
  const uint8_t locks = scope(outer, 2, monitors(16)), burns = scope(locks, 3, 0),
                other = scope(outer, 4, monitors(16));
  const uint8_t at_end = scope(outer, 2, 0);  // of the same call, where it has the monitor no more
  for (const uint8_t each : {burns, other, at_end}) desc(0x20, each);
  EXPECT_EQ(find_lock_scope_by(blob, 0, 16, at_end, false), at_end);
  EXPECT_EQ(find_lock_scope_by(blob, 0, 20, at_end, false), 0U);
  EXPECT_EQ(find_lock_scope_by(blob, 0, 16, burns, false), 0U) << "noted for something else";
}

TEST_F(LockScope, who_is_left_by_an_exception_is_described_as_its_caller) {
  const uint8_t outer = scope(0, 1, 0);
  const uint8_t calls = scope(outer, 2, 0), left = scope(calls, 3, monitors(16));
  const uint8_t gone = put({outer, 2, 0, 0, 0, 0});  // no bytecode
  desc(0x20, left);
  EXPECT_EQ(find_lock_scope_by(blob, 0, 16, gone, false), left);
  EXPECT_EQ(find_lock_scope_by(blob, 0, 16, gone, true), 0U) << "is its own monitor, which that slot is not";
  EXPECT_EQ(find_lock_scope_by(blob, 0, 16, calls, false), 0U);
}

TEST_F(LockScope, of_several_that_may_have_been_left_by_an_exception_none_is) {
  const uint8_t outer = scope(0, 1, monitors(16));
  const uint8_t first = scope(outer, 3, monitors(16)), again = scope(outer, 3, monitors(16)),
                second = scope(outer, 4, monitors(16));
  const uint8_t gone = put({0, 1, 0, 0, 0, 0});
  desc(0x20, first);
  desc(0x30, again);
  EXPECT_NE(find_lock_scope_by(blob, 0, 16, gone, false), 0U);
  desc(0x40, second);
  EXPECT_EQ(find_lock_scope_by(blob, 0, 16, gone, false), 0U);
}

TEST_F(LockScope, of_several_methods_none_is_the_only_one) {
  const uint8_t outer = scope(0, 1, 0);
  desc(0x20, scope(outer, 2, monitors(16)));
  desc(0x30, scope(outer, 2, monitors(16)));
  EXPECT_NE(find_only_lock_scope(blob, 0, 16), 0U);
  EXPECT_EQ(find_only_lock_scope(blob, 0, 20), 0U);
  desc(0x40, scope(outer, 3, monitors(16)));
  EXPECT_EQ(find_only_lock_scope(blob, 0, 16), 0U);
}

TEST_F(LockScope, damage_is_no_scope) {
  desc(0x20, 200);
  const uint8_t endless = put({1, 1, 1, 0, 0, 90});
  desc(0x30, endless);
  EXPECT_EQ(find(16, 0x40), 0U);
}

TEST(Aarch64Release, where_code_goes_on_and_where_it_is_reached_from) {
  const Machine& machine = Machine::aarch64();
  EXPECT_EQ(machine.next_jump(arm_words({kArmNop, 0x17fffffe})), -4);  // b .-8
  EXPECT_EQ(machine.next_jump(arm_words({kArmNop, kArmRet, 0x14000002})), std::nullopt);
  // In line: b.eq .+8 falls through to where the call is.
  EXPECT_EQ(machine.reached_from(arm_words({kArmRet, kArmNop, 0x54000040, kArmNop, 0x94000000}), 20), 4U);
  // Out of line: cbnz x1, .+16 leads to what stands behind a ret.
  EXPECT_EQ(machine.reached_from(arm_words({0xb5000081, kArmNop, kArmNop, kArmRet, kArmNop, 0x94000000}), 24), 0U);
  // The same, and b.eq .+8 on the way.
  EXPECT_EQ(machine.reached_from(arm_words({0xb5000061, kArmNop, kArmRet, 0x54000040, kArmNop, 0x94000000}), 24), 0U);
  // Nobody leads there: where it begins.
  EXPECT_EQ(machine.reached_from(arm_words({kArmNop, kArmRet, kArmNop, 0x94000000}), 16), 8U);
  EXPECT_EQ(machine.passed_slot(arm_words({0x910143e1, kArmNop, 0x94000000})), 0x50);  // add x1, sp, #0x50
  EXPECT_EQ(machine.passed_slot(arm_words({0x910143e1, kArmRet, 0x94000000})),
            std::nullopt);  // of another way through the code
  EXPECT_EQ(machine.passed_slot(arm_words({0x910143e5, kArmNop, 0x94000000})),
            std::nullopt);                                                                // x5 is no argument of it
  EXPECT_EQ(machine.passed_slot(arm_words({0x910143e5, 0xf90003e5, 0x94000000})), 0x50);  // str x5, [sp]: of C1's stub
  EXPECT_EQ(machine.passed_slot(arm_words({0x910143e5, 0xf90003e6, 0x94000000})), std::nullopt);
}

TEST(X8664Release, where_code_goes_on_and_where_it_is_reached_from) {
  using Bytes = std::vector<uint8_t>;
  const Machine& machine = Machine::x86_64();
  // nop of eight bytes; jmp .-0x310
  EXPECT_EQ(machine.next_jump(Bytes{0x0f, 0x1f, 0x84, 0, 1, 2, 3, 4, 0xe9, 0xf0, 0xfc, 0xff, 0xff}), 13 - 0x310);
  EXPECT_EQ(machine.next_jump(Bytes{0x90, 0xc3, 0xeb, 0x02}), std::nullopt);
  // je +6, jmp +13; [reached:] mov rdi, rbp; lea rsi, [rsp + 0x20]; call r10
  const Bytes code = {0x74, 0x05, 0xe9, 0x0d, 0,    0,    0,    0x48, 0x8b,
                      0xfd, 0x48, 0x8d, 0x74, 0x24, 0x20, 0x41, 0xff, 0xd2};
  EXPECT_EQ(machine.reached_from(code, code.size()), 0U);
  Bytes in_line = code;
  in_line[2] = 0x90;
  EXPECT_EQ(machine.reached_from(in_line, code.size()), code.size()) << "nothing has jumped over it";
  EXPECT_EQ(machine.passed_slot(code), 0x20);
  // lea rdx, [rsp + 0x30]; call; mov rdi, rax; call: of another call
  EXPECT_EQ(machine.passed_slot(
                Bytes{0x90, 0x48, 0x8d, 0x54, 0x24, 0x30, 0xe8, 0, 0, 0, 0, 0x48, 0x8b, 0xf8, 0xe8, 0, 0, 0, 0}),
            std::nullopt);
  // lea rdx, [rsp + 0x120]; call
  EXPECT_EQ(machine.passed_slot(Bytes{0x90, 0x48, 0x8d, 0x94, 0x24, 0x20, 1, 0, 0, 0xe8, 0, 0, 0, 0}), 0x120);
  EXPECT_EQ(machine.passed_slot(Bytes{0x90, 0x48, 0x8d, 0x44, 0x24, 0x20, 0xe8, 0, 0, 0, 0}), std::nullopt);  // rax
  // lea rax, [rsp + 0x20]; mov [rsp], rax: of a stub of C1
  EXPECT_EQ(machine.passed_slot(Bytes{0x90, 0x48, 0x8d, 0x44, 0x24, 0x20, 0x48, 0x89, 0x04, 0x24, 0xe8, 0, 0, 0, 0}),
            0x20);
  // lea r9, [rsp + 0x120]; mov [rsp], r9
  EXPECT_EQ(
      machine.passed_slot(Bytes{0x90, 0x4c, 0x8d, 0x8c, 0x24, 0x20, 1, 0, 0, 0x4c, 0x89, 0x0c, 0x24, 0xe8, 0, 0, 0, 0}),
      0x120);
}

}  // namespace
}  // namespace tarsier::hotspot
