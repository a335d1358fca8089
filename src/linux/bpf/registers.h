// The registers of a thread when it entered the kernel. Only for src/**/*.bpf.c.
//
// The kernel keeps this layout for its users (struct user_pt_regs, struct pt_regs); these are declared here to compile
// for the one architecture on the other.
#pragma once

#include "linux/bpf/fragment_layout.h"
#include "linux/bpf/helpers.h"
#include "linux/bpf/maps.h"

#if defined(__TARGET_ARCH_arm64)
struct Registers {
  __u64 general[31], sp, pc, pstate;
};
#define PC(registers) ((registers)->pc)
#define FP(registers) ((registers)->general[29])
#define IN_USER_MODE(registers) (((registers)->pstate & 0xf) == 0)
#elif defined(__TARGET_ARCH_x86)
struct Registers {
  __u64 r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax, ip, cs, flags, sp, ss;
};
#define PC(registers) ((registers)->ip)
#define FP(registers) ((registers)->bp)
#define IN_USER_MODE(registers) (((registers)->cs & 3) == 3)
#else
#error no such architecture
#endif

// The arguments of a system call, from the first to the last that is of interest here, as they lie among the registers.
#if defined(__TARGET_ARCH_arm64)
struct Arguments {
  __u64 first, second, third, fourth;
};
enum { kFutexCall = 98, kArgumentsAt = 0 };
#else
struct Arguments {
  __u64 fourth, r9, r8, ax, cx, third, second;
};
enum { kFutexCall = 202, kArgumentsAt = __builtin_offsetof(struct Registers, r10) };
#endif

// The start of struct bpf_perf_event_data: what the tick interrupted, which may be the kernel.
struct Tick {
  struct Registers interrupted;
};

// The user's registers, also if the tick hit in the kernel.
static ALWAYS_INLINE int read_registers(struct Registers* out, const struct Tick* tick) {
  if (settings.task_registers) {
    return bpf_probe_read_kernel(out, sizeof(*out), bpf_task_pt_regs(bpf_get_current_task_btf())) == 0 &&
           IN_USER_MODE(out);
  }
  *out = tick->interrupted;
  return IN_USER_MODE(out);
}

// Its number; -1: none, or not known.
static ALWAYS_INLINE __s64 system_call_here(void) {
  const char* at = (const char*)bpf_task_pt_regs(bpf_get_current_task_btf()) + settings.system_call;
  __s64 number = 0;
  __s32 short_number = 0;
  if (settings.system_call_bytes == 8) return bpf_probe_read_kernel(&number, 8, at) == 0 ? number : -1;
  if (settings.system_call_bytes == 0 || bpf_probe_read_kernel(&short_number, 4, at) != 0) return -1;
  return short_number;
}

// The thread here waits for a word of its process's own memory to change, for as long as it takes.
static ALWAYS_INLINE int waits_for_own_process(void) {
  const __u32 private = 128, command = 127, wait = 0, wait_bitset = 9;  // of linux/futex.h
  if (system_call_here() != kFutexCall) return 0;
  const char* at = (const char*)bpf_task_pt_regs(bpf_get_current_task_btf()) + kArgumentsAt;
  struct Arguments arguments;
  if (bpf_probe_read_kernel(&arguments, sizeof(arguments), at) != 0) return 0;
  const __u32 operation = arguments.second & command;
  return (arguments.second & private) && (operation == wait || operation == wait_bitset) && arguments.fourth == 0;
}

// Of the thread here, in the kernel by a system call or a fault: those of user mode. 0 if there are none.
static ALWAYS_INLINE int read_user_sp(__u64* sp) {
  const char* at = (const char*)bpf_task_pt_regs(bpf_get_current_task_btf());
  return bpf_probe_read_kernel(sp, sizeof(*sp), at + __builtin_offsetof(struct Registers, sp)) == 0;
}

// Or not: by an interrupt or a fault. If it can't be told, it is.
static ALWAYS_INLINE int is_in_system_call(void) {
  return settings.system_call_bytes == 0 || system_call_here() != -1;
}

static ALWAYS_INLINE void copy_registers(struct Fragment* out, const struct Registers* in) {
  out->pc = PC(in);
  out->sp = in->sp;
  out->fp = FP(in);
#if defined(__TARGET_ARCH_arm64)
  __builtin_memcpy(out->general, in->general, sizeof(out->general));
#else
  // The order of hotspot/sigsafe/fragment.h.
  const __u64 general[kGeneralRegisters] = {in->ax, in->bx, in->cx,  in->dx,  in->si,  in->di,  in->bp,  in->sp,
                                            in->r8, in->r9, in->r10, in->r11, in->r12, in->r13, in->r14, in->r15};
  __builtin_memcpy(out->general, general, sizeof(out->general));
#endif
}

// Without a place of their own in between, where they need not be put in order: a program's stack has 512 bytes.
static ALWAYS_INLINE int copy_user_registers(struct Fragment* out) {
#if defined(__TARGET_ARCH_arm64)
  const char* from = (const char*)bpf_task_pt_regs(bpf_get_current_task_btf());
  struct {
    __u64 sp, pc, pstate;
  } rest;
  if (bpf_probe_read_kernel(out->general, sizeof(out->general), from) != 0) return 0;
  if (bpf_probe_read_kernel(&rest, sizeof(rest), from + sizeof(out->general)) != 0) return 0;
  out->pc = rest.pc;
  out->fp = out->general[29];
  return IN_USER_MODE(&rest);
#else
  struct Registers registers;
  if (!read_registers(&registers, 0)) return 0;
  copy_registers(out, &registers);
  return 1;
#endif
}
