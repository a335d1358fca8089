// The registers of the interrupted thread that a stack walk starts from.
#pragma once

#include <ucontext.h>

#include <cstdint>

namespace tarsier::capture {

struct Registers {
  uint64_t pc, sp, fp;

  static Registers of(const ucontext_t& context) noexcept {
#if defined(__aarch64__)
    return {context.uc_mcontext.pc, context.uc_mcontext.sp, context.uc_mcontext.regs[29]};
#elif defined(__x86_64__)
    const auto& r = context.uc_mcontext.gregs;
    return {static_cast<uint64_t>(r[REG_RIP]), static_cast<uint64_t>(r[REG_RSP]), static_cast<uint64_t>(r[REG_RBP])};
#else
#error "tarsier runs on aarch64 and x86_64"
#endif
  }

  void store(ucontext_t& context) const noexcept {
#if defined(__aarch64__)
    context.uc_mcontext.pc = pc;
    context.uc_mcontext.sp = sp;
    context.uc_mcontext.regs[29] = fp;
#else
    auto& r = context.uc_mcontext.gregs;
    r[REG_RIP] = static_cast<greg_t>(pc);
    r[REG_RSP] = static_cast<greg_t>(sp);
    r[REG_RBP] = static_cast<greg_t>(fp);
#endif
  }

  // The link register, which holds the return address of a function that has not saved it; false where there is none.
  static bool link([[maybe_unused]] const ucontext_t& context, [[maybe_unused]] uint64_t& link) noexcept {
#if defined(__aarch64__)
    link = context.uc_mcontext.regs[30];
    return true;
#else
    return false;
#endif
  }

  // The caller's registers if the interrupted code is a leaf that has set up no frame.
  [[nodiscard]] static Registers caller_without_frame(const ucontext_t& context) noexcept {
    Registers caller = of(context);
#if defined(__aarch64__)
    caller.pc = context.uc_mcontext.regs[30];
#else
    caller.pc = *reinterpret_cast<const uint64_t*>(caller.sp);
    caller.sp += 8;
#endif
    return caller;
  }

  // The caller's registers if the interrupted code keeps the usual frame record; false if fp can't be one.
  [[nodiscard]] static bool caller_by_frame(const ucontext_t& context, Registers& caller) noexcept {
    const Registers own = of(context);
    constexpr uint64_t kNear = 8192;  // of a stub: what lies that close above sp is the thread's own stack
    if (own.fp < own.sp || own.fp - own.sp > kNear || own.fp % 8 != 0) return false;
    const auto* record = reinterpret_cast<const uint64_t*>(own.fp);
    caller = {record[1], own.fp + 16, record[0]};
    return true;
  }
};

}  // namespace tarsier::capture
