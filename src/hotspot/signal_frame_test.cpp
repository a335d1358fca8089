#include <gtest/gtest.h>
#include <ucontext.h>

#include <cstddef>
#include <vector>

#include "hotspot/machine.h"

namespace tarsier::hotspot {
namespace {

TEST(SignalFrame, lies_where_the_kernel_of_this_machine_puts_it) {
  const SignalFrame frame = Machine::host().signal_frame();
#if defined(__aarch64__)
  constexpr size_t kSiginfo = 128, kContext = kSiginfo + offsetof(ucontext_t, uc_mcontext);
  EXPECT_EQ(frame.pc, kContext + offsetof(mcontext_t, pc));
  EXPECT_EQ(frame.sp, kContext + offsetof(mcontext_t, sp));
  EXPECT_EQ(frame.fp, kContext + offsetof(mcontext_t, regs) + 8 * 29);
  EXPECT_EQ(frame.general[30], kContext + offsetof(mcontext_t, regs) + 8 * 30);
#else
  constexpr size_t kGeneral = offsetof(ucontext_t, uc_mcontext) + offsetof(mcontext_t, gregs);
  EXPECT_EQ(frame.pc, kGeneral + 8 * REG_RIP);
  EXPECT_EQ(frame.sp, kGeneral + 8 * REG_RSP);
  EXPECT_EQ(frame.fp, kGeneral + 8 * REG_RBP);
  const int order[] = {REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI, REG_RBP, REG_RSP,
                       REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
  for (size_t i = 0; i < std::size(order); ++i) {
    EXPECT_EQ(frame.general[i], kGeneral + 8 * static_cast<size_t>(order[i])) << i;
  }
#endif
}

TEST(SignalFrame, handlers_return_to_a_call_of_the_kernel) {
  using Bytes = std::vector<uint8_t>;
  const Machine& x86 = Machine::x86_64();
  const Bytes restorer = {0x90, 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05, 0x0f, 0x1f};
  for (const size_t at : {1, 8, 10}) EXPECT_TRUE(x86.returns_from_signal(restorer, at)) << at;
  for (const size_t at : {0, 2, 9, 11}) EXPECT_FALSE(x86.returns_from_signal(restorer, at)) << at;
  Bytes other = restorer;
  other[4] = 0x0e;
  EXPECT_FALSE(x86.returns_from_signal(other, 1)) << "another call";
  EXPECT_FALSE(x86.returns_from_signal(Bytes(restorer.begin(), restorer.begin() + 9), 1)) << "cut off";

  const Machine& arm = Machine::aarch64();
  const Bytes vdso = {0x1f, 0x20, 0x03, 0xd5, 0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4};  // nop; mov x8, 139; svc 0
  for (const size_t at : {4, 8, 12}) EXPECT_TRUE(arm.returns_from_signal(vdso, at)) << at;
  EXPECT_FALSE(arm.returns_from_signal(vdso, 0));
}

}  // namespace
}  // namespace tarsier::hotspot
