// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
//
// On the tracepoint sys_exit: a thread that has waited in a system call is about to leave the kernel, with its stack
// just as it was when it went to sleep. This copies it, with the length of the wait.
#include "linux/bpf/waits.h"

MAP(ring);

struct Return {
  __u64 registers, result;
};

#if defined(__TARGET_ARCH_arm64)
struct Registers {
  __u64 general[31], sp, pc;
};
#elif defined(__TARGET_ARCH_x86)
struct Registers {
  __u64 r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax, pc, cs, flags, sp;
};
#else
#error no such architecture
#endif

// The verifier wants reservations of a constant size; these waste little.
#define ROOM(stack) (sizeof(struct SampleHeader) + sizeof(struct Fragment) + (stack))
static ALWAYS_INLINE char* reserve(__u64 stack) {
  if (stack <= 1 << 10) return bpf_ringbuf_reserve(&ring, ROOM(1 << 10), 0);
  if (stack <= 2 << 10) return bpf_ringbuf_reserve(&ring, ROOM(2 << 10), 0);
  if (stack <= 4 << 10) return bpf_ringbuf_reserve(&ring, ROOM(4 << 10), 0);
  if (stack <= 8 << 10) return bpf_ringbuf_reserve(&ring, ROOM(8 << 10), 0);
  if (stack <= 16 << 10) return bpf_ringbuf_reserve(&ring, ROOM(16 << 10), 0);
  return bpf_ringbuf_reserve(&ring, ROOM(kMaxStack), 0);
}

struct Place {
  __u64 anchor_sp, base, monitor;
};

static ALWAYS_INLINE int find_place(struct Place* out, const char* java_thread) {
  const volatile struct Settings* at = &settings.thread;
  out->monitor = 0;
  if (bpf_probe_read_user(&out->anchor_sp, 8, java_thread + at->anchor_sp) != 0) return 0;
  if (bpf_probe_read_user(&out->base, 8, java_thread + at->stack_base) != 0) return 0;
  return settings.pending_monitor == 0 ||
         bpf_probe_read_user(&out->monitor, 8, java_thread + settings.pending_monitor) == 0;
}

static ALWAYS_INLINE int read_thread(struct Fragment* out, const char* java_thread) {
  const volatile struct Settings* at = &settings.thread;
  if (bpf_probe_read_user(&out->anchor_pc, 8, java_thread + at->anchor_pc) != 0) return 0;
  if (bpf_probe_read_user(&out->anchor_fp, 8, java_thread + at->anchor_fp) != 0) return 0;
  if (bpf_probe_read_user(&out->thread_state, 4, java_thread + at->thread_state) != 0) return 0;
  if (at->continuation != 0 && bpf_probe_read_user(&out->continuation, 8, java_thread + at->continuation) != 0)
    return 0;
  if (at->unloaded == 0) return 1;
  __u64 unloaded = 0, shared = 0;
  if (bpf_probe_read_user(&unloaded, 8, (const void*)at->unloaded) != 0) return 0;
  if (bpf_probe_read_user(&shared, 8, (const void*)at->unloaded_shared) != 0) return 0;
  out->epoch = unloaded + shared;
  return 1;
}

// 0, with the cause counted, if it could not be copied whole.
static ALWAYS_INLINE int copy(struct WaitingThread* thread, const struct Return* what, struct WaitCounters* counts) {
  const char* java_thread = (const char*)thread->java_thread;
  struct Place place;
  struct Registers registers;
  if (!find_place(&place, java_thread) ||
      bpf_probe_read_kernel(&registers, sizeof(registers), (const void*)what->registers) != 0) {
    ++counts->thread_unreadable;
    return 0;
  }
  // The JVM's own frames lie below the anchor. The pc is the word below it if the anchor has none.
  const __u64 sp = place.anchor_sp != 0 ? place.anchor_sp - 64 : registers.sp;
  const __u64 bottom = thread->java_bottom;
  const __u64 end = bottom > sp && bottom <= place.base ? bottom : place.base;
  const __u64 size = sp < end && end - sp < (1UL << 30) ? end - sp : 0;
  const __u64 bytes = size < kMaxStack ? size & ~7UL : kMaxStack;
  char* record = reserve(bytes);
  if (!record) {
    ++counts->ring_full;
    return 0;
  }
  struct SampleHeader* header = (struct SampleHeader*)record;
  header->time_ns = thread->due_since;
  header->weight_ns = thread->due;
  header->thread = thread->serial;
  header->kernel_count = 0;
  header->flags = kFlagWaits | (place.monitor != 0 ? kFlagBlocked : 0) | (thread->from_before ? kFlagFromBefore : 0);
  struct Fragment* fragment = (struct Fragment*)(record + sizeof(*header));
  __builtin_memset(fragment, 0, sizeof(*fragment));
  fragment->pc = registers.pc;
  fragment->sp = sp;
  fragment->anchor_sp = place.anchor_sp;
  fragment->stack_bytes = bytes;
  fragment->cut = size > bytes;
  if (!read_thread(fragment, java_thread)) {
    ++counts->thread_unreadable;
    bpf_ringbuf_discard(record, BPF_RB_NO_WAKEUP);
    return 0;
  }
  if (bytes != 0 && bpf_probe_read_user(fragment + 1, bytes, (const void*)sp) != 0) {
    ++counts->stack_unreadable;
    bpf_ringbuf_discard(record, BPF_RB_NO_WAKEUP);
    return 0;
  }
  bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);  // the session's thread comes by often enough
  return 1;
}

SECTION("program")
int on_return(struct Return* what) {
  __u32 tid;
  struct WaitingThread* thread = current_thread(&tid);
  if (!thread) return 0;
  const __u64 now = bpf_ktime_get_ns();
  // One that slept when we came: nobody has seen it go, so nobody has seen it come.
  if (thread->from_before && thread->since != 0) {
    const __u64 length = now - thread->since;
    thread->due_since = thread->since;
    thread->since = 0;
    if (length < settings.min_ns) {
      add(&thread->shorter, length);
    } else if (settings.max_ns != 0 && length > settings.max_ns) {
      add(&thread->longer, length);
    } else {
      thread->due = length;
    }
  }
  const __u64 length = thread->due;
  if (length == 0) return 0;
  const __u32 zero = 0;
  struct WaitCounters* counts = bpf_map_lookup_elem(&counters, &zero);
  if (!counts) return 0;
  ++counts->taken;
  if (copy(thread, what, counts)) {
    add(&thread->written, length);
  } else {
    add(&thread->missed, length);
  }
  thread->due = 0;
  thread->from_before = 0;
  counts->ns += bpf_ktime_get_ns() - now;
  return 0;
}
