// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
//
// Sampling by stack fragments in the kernel: at every tick of a CPU that runs a Java thread of our process this copies
// what the signal handler of capture/fragment_capture.cpp copies, into one ring. The thread gets no signal and calls
// nothing.
//
// Runs in the timer's interrupt: it can't wait for a page that is not in memory, so every read may fail. What could not
// be read whole is discarded and counted.
//
// Kernels from 5.8 on (the ring); before 5.15, and where the kernel has no types (BTF), without the time in the kernel.
// The functions that read memory are for programs under the GPL only.
#include "linux/bpf/fragment_layout.h"
#include "linux/bpf/helpers.h"

// The registers of a thread when it entered the kernel. The kernel keeps this layout for its users (struct
// user_pt_regs, struct pt_regs); these are declared here to compile for the one architecture on the other.
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

// The start of struct bpf_perf_event_data: what the tick interrupted, which may be the kernel.
struct Tick {
  struct Registers interrupted;
};

const volatile struct Settings settings = {};

MAP(threads);   // hash: thread id -> struct Thread
MAP(ring);      // of records
MAP(periods);   // array: CPU -> what a tick stands for
MAP(counters);  // one struct Counters for each CPU

// The user's registers, also if the tick hit in the kernel.
static ALWAYS_INLINE int read_registers(struct Registers* out, const struct Tick* tick) {
  if (settings.task_registers) {
    return bpf_probe_read_kernel(out, sizeof(*out), bpf_task_pt_regs(bpf_get_current_task_btf())) == 0 &&
           IN_USER_MODE(out);
  }
  *out = tick->interrupted;
  return IN_USER_MODE(out);
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

static ALWAYS_INLINE int read_thread(struct Fragment* out, __u64 java_thread) {
  const char* at = (const char*)java_thread;
  if (bpf_probe_read_user(&out->anchor_sp, 8, at + settings.anchor_sp) != 0) return 0;
  if (bpf_probe_read_user(&out->anchor_pc, 8, at + settings.anchor_pc) != 0) return 0;
  if (bpf_probe_read_user(&out->anchor_fp, 8, at + settings.anchor_fp) != 0) return 0;
  if (bpf_probe_read_user(&out->thread_state, 4, at + settings.thread_state) != 0) return 0;
  out->continuation = 0;
  if (settings.continuation != 0 && bpf_probe_read_user(&out->continuation, 8, at + settings.continuation) != 0)
    return 0;
  out->epoch = 0;
  if (settings.unloaded == 0) return 1;
  __u64 unloaded = 0, shared = 0;
  if (bpf_probe_read_user(&unloaded, 8, (const void*)settings.unloaded) != 0) return 0;
  if (bpf_probe_read_user(&shared, 8, (const void*)settings.unloaded_shared) != 0) return 0;
  out->epoch = unloaded + shared;
  return 1;
}

// From sp to the end of what is of interest; 0 on a stack of the application's own (a coroutine, a signal stack), of
// which nobody knows where it ends.
static ALWAYS_INLINE __u64 stack_size(__u64 sp, __u64 base, __u64 bottom) {
  const __u64 end = bottom > sp && bottom <= base ? bottom : base;
  return sp < end && end - sp < (1UL << 30) ? end - sp : 0;
}

// The verifier wants reservations of a constant size; these waste little.
#define ROOM(stack) (sizeof(struct SampleHeader) + kMaxKernelFrames * sizeof(__u64) + sizeof(struct Fragment) + (stack))
static ALWAYS_INLINE char* reserve(__u64 stack) {
  if (stack <= 2 << 10) return bpf_ringbuf_reserve(&ring, ROOM(2 << 10), 0);
  if (stack <= 4 << 10) return bpf_ringbuf_reserve(&ring, ROOM(4 << 10), 0);
  if (stack <= 6 << 10) return bpf_ringbuf_reserve(&ring, ROOM(6 << 10), 0);
  if (stack <= 8 << 10) return bpf_ringbuf_reserve(&ring, ROOM(8 << 10), 0);
  if (stack <= 12 << 10) return bpf_ringbuf_reserve(&ring, ROOM(12 << 10), 0);
  if (stack <= 16 << 10) return bpf_ringbuf_reserve(&ring, ROOM(16 << 10), 0);
  if (stack <= 24 << 10) return bpf_ringbuf_reserve(&ring, ROOM(24 << 10), 0);
  return bpf_ringbuf_reserve(&ring, ROOM(kMaxStack), 0);
}

SECTION("program")
int take_fragment(struct Tick* tick) {
  struct bpf_pidns_info ids;
  if (bpf_get_ns_current_pid_tgid(settings.namespace_device, settings.namespace_inode, &ids, sizeof(ids)) != 0)
    return 0;
  if (ids.tgid != settings.process) return 0;
  const __u32 zero = 0, tid = ids.pid, cpu = bpf_get_smp_processor_id();
  struct Counters* counts = bpf_map_lookup_elem(&counters, &zero);
  const __u64* period = bpf_map_lookup_elem(&periods, &cpu);
  if (!counts || !period) return 0;
  const struct Thread* thread = bpf_map_lookup_elem(&threads, &tid);
  if (!thread) {
    ++counts->other_threads;
    return 0;
  }
  const __u64 now = bpf_ktime_get_ns();
  ++counts->taken;

  struct Registers registers;
  if (!read_registers(&registers, tick)) {
    ++counts->registers_unreadable;
    return 0;
  }
  const __u64 java_thread = thread->java_thread;
  __u64 base = 0;
  if (bpf_probe_read_user(&base, sizeof(base), (const void*)(java_thread + settings.stack_base)) != 0) {
    ++counts->thread_unreadable;
    return 0;
  }
  const __u64 size = stack_size(registers.sp, base, thread->java_bottom);
  __u64 bytes = size < kMaxStack ? size & ~7UL : kMaxStack;

  char* record = reserve(bytes);
  if (!record) {
    ++counts->ring_full;
    return 0;
  }
  struct SampleHeader* header = (struct SampleHeader*)record;
  __u64* kernel = (__u64*)(record + sizeof(*header));
  long kernel_bytes = 0;
  if (!IN_USER_MODE(&tick->interrupted)) {
    kernel_bytes = bpf_get_stack(tick, kernel, kMaxKernelFrames * sizeof(__u64), 0);
    if (kernel_bytes < 0) kernel_bytes = 0;  // the sample is good without
    if (kernel_bytes > (long)(kMaxKernelFrames * sizeof(__u64))) kernel_bytes = kMaxKernelFrames * sizeof(__u64);
  }
  header->time_ns = now;
  header->weight_ns = *period;
  header->thread = thread->serial;
  header->kernel_count = kernel_bytes / sizeof(__u64);
  header->flags = 0;

  struct Fragment* fragment = (struct Fragment*)(record + sizeof(*header) + kernel_bytes);
  copy_registers(fragment, &registers);
  fragment->stack_bytes = bytes;
  fragment->virtual_id = 0;
  fragment->frozen_bytes = 0;
  fragment->name_bytes = 0;
  fragment->name_is_utf16 = 0;
  fragment->frozen_cut = 0;
  fragment->cut = size > bytes;
  if (!read_thread(fragment, java_thread)) {
    ++counts->thread_unreadable;
    bpf_ringbuf_discard(record, BPF_RB_NO_WAKEUP);
    return 0;
  }
  if (bytes != 0 && bpf_probe_read_user(fragment + 1, bytes, (const void*)registers.sp) != 0) {
    ++counts->stack_unreadable;
    bpf_ringbuf_discard(record, BPF_RB_NO_WAKEUP);
    return 0;
  }
  bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);  // the session's thread comes by often enough
  counts->ns += bpf_ktime_get_ns() - now;
  return 0;
}
