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
#include "linux/bpf/frozen_frames.h"
#include "linux/bpf/helpers.h"
#include "linux/bpf/java_thread.h"
#include "linux/bpf/maps.h"
#include "linux/bpf/process_identity.h"
#include "linux/bpf/registers.h"

// What is known before anything is copied.
struct Sample {
  struct Registers registers;
  struct Thread* thread;  // null: not known
  __u32 tid;
  __u64 now, weight, base, continuation;
};

// Header, kernel frames and of the fragment the registers; the rest of it is 0.
static ALWAYS_INLINE struct Fragment* begin_record(char* record, struct Tick* tick, const struct Sample* sample) {
  struct SampleHeader* header = (struct SampleHeader*)record;
  __u64* kernel = (__u64*)(record + sizeof(*header));
  long kernel_bytes = 0;
  if (!settings.hide_kernel && !IN_USER_MODE(&tick->interrupted)) {
    kernel_bytes = bpf_get_stack(tick, kernel, kMaxKernelFrames * sizeof(__u64), 0);
    if (kernel_bytes < 0) kernel_bytes = 0;  // the sample is good without
    if (kernel_bytes > (long)(kMaxKernelFrames * sizeof(__u64))) kernel_bytes = kMaxKernelFrames * sizeof(__u64);
  }
  header->time_ns = sample->now;
  header->weight_ns = sample->weight;
  header->thread = sample->thread ? sample->thread->serial : sample->tid;
  header->kernel_count = kernel_bytes / sizeof(__u64);
  header->flags = sample->thread ? 0 : kUnknownThread;

  struct Fragment* fragment = (struct Fragment*)(record + sizeof(*header) + kernel_bytes);
  copy_registers(fragment, &sample->registers);
  fragment->anchor_sp = 0;
  fragment->anchor_pc = 0;
  fragment->anchor_fp = 0;
  fragment->continuation = sample->continuation;
  fragment->thread_state = kThreadInNative;
  fragment->stack_bytes = 0;
  fragment->epoch = 0;
  fragment->virtual_id = 0;
  fragment->frozen_bytes = 0;
  fragment->name_bytes = 0;
  fragment->name_is_utf16 = 0;
  fragment->frozen_cut = 0;
  fragment->cut = 0;
  return fragment;
}

// The verifier wants reservations of a constant size; these waste little.
#define ROOM(stack) (kRecordHead + (stack))
#define RESERVE_UP_TO(kilobytes) \
  if (stack <= (kilobytes) << 10) return bpf_ringbuf_reserve(&ring, ROOM((kilobytes) << 10), 0);
static ALWAYS_INLINE char* reserve(__u64 stack) {
  RESERVE_UP_TO(2)
  RESERVE_UP_TO(4)
  RESERVE_UP_TO(6)
  RESERVE_UP_TO(8)
  RESERVE_UP_TO(12)
  RESERVE_UP_TO(16)
  RESERVE_UP_TO(24)
  RESERVE_UP_TO(32)
  RESERVE_UP_TO(48)
  RESERVE_UP_TO(64)
  RESERVE_UP_TO(96)
  RESERVE_UP_TO(128)
  RESERVE_UP_TO(192)
  RESERVE_UP_TO(256)
  RESERVE_UP_TO(384)
  return bpf_ringbuf_reserve(&ring, ROOM(kMaxDeepStack), 0);
}

static ALWAYS_INLINE void take_platform_thread(struct Tick* tick, const struct Sample* sample,
                                               struct Counters* counts) {
  const __u64 sp = sample->registers.sp;
  const __u64 size = stack_size(sp, sample->base, java_bottom(sample->thread->serial));
  __u64 bytes = size;
  if (bytes > kMaxStack) {
    const int much_room = bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) < settings.ring_bytes / 2;
    const __u64 most = much_room ? settings.max_deep_stack : kMaxStack;
    if (bytes > most) bytes = most;
    if (bytes > kMaxDeepStack) bytes = kMaxDeepStack;
  }
  char* record = reserve(bytes);
  if (!record) {
    ++counts->ring_full;
    return;
  }
  struct Fragment* fragment = begin_record(record, tick, sample);
  const int of_jvm = sample->thread->java_thread == 0;
  if (!of_jvm && !read_thread(fragment, sample->thread->java_thread)) {
    ++counts->thread_unreadable;
    bpf_ringbuf_discard(record, BPF_RB_NO_WAKEUP);
    return;
  }
  fragment->stack_bytes = bytes;
  fragment->cut = size > bytes;
  if (bytes != 0 && bpf_probe_read_user(fragment + 1, bytes, (const void*)sp) != 0) {
    // Where the stack of one of the JVM's own threads ends is only guessed: the agent learns from this.
    if (!of_jvm) {
      ++counts->stack_unreadable;
      bpf_ringbuf_discard(record, BPF_RB_NO_WAKEUP);
      return;
    }
    fragment->stack_bytes = 0;
  }
  bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);  // the session's thread comes by often enough
}

static ALWAYS_INLINE void take_virtual_thread(struct Tick* tick, const struct Sample* sample, __u32 cpu,
                                              struct Counters* counts) {
  struct Scratch* scratch = bpf_map_lookup_elem(&scratches, &cpu);
  if (!scratch) {
    ++counts->ring_full;  // can't be: every CPU has one
    return;
  }
  struct Fragment* fragment = begin_record((char*)scratch->record, tick, sample);
  if (!read_thread(fragment, sample->thread->java_thread)) {
    ++counts->thread_unreadable;
    return;
  }
  struct Mounted mounted;
  find_mounted(fragment, sample->thread->java_thread, sample->thread->named_virtual_id, &mounted);
  // A virtual thread's stack ends where its carrier has entered it.
  const __u64 entered = fragment->virtual_id != 0 && sample->continuation != 0 ? sample->continuation + kEntryBytes : 0;
  const __u64 bottom = entered != 0 ? entered : java_bottom(sample->thread->serial);
  const __u64 sp = sample->registers.sp;
  const __u64 size = stack_size(sp, sample->base, bottom);
  const __u64 bytes = size < kMaxStack ? size : kMaxStack;
  fragment->stack_bytes = bytes;
  fragment->cut = size > bytes;
  if (bytes != 0 && bpf_probe_read_user(fragment + 1, bytes, (const void*)sp) != 0) {
    ++counts->stack_unreadable;
    return;
  }
  const __u64 kernel_count = ((const struct SampleHeader*)scratch->record)->kernel_count;
  const __u64 frozen_begin = kRecordHead - (kMaxKernelFrames - kernel_count) * sizeof(__u64) + bytes;
  scratch->at = frozen_begin;
  if (mounted.continuation != 0 && !copy_frozen_frames(scratch, fragment, mounted.continuation))
    fragment->frozen_cut = 1;
  fragment->frozen_bytes = scratch->at - frozen_begin;
  copy_name(scratch, fragment, mounted.name_from);
  const __u64 all = scratch->at;
  if (all > kScratchRecord || bpf_ringbuf_output(&ring, scratch->record, all, BPF_RB_NO_WAKEUP) != 0) {
    ++counts->ring_full;
    return;
  }
  if (fragment->virtual_id != 0) sample->thread->named_virtual_id = fragment->virtual_id;
}

// Who it was may turn out later: a thread that starts is not known before it has come far enough to say so. No stack:
// it has no Java frames yet.
static ALWAYS_INLINE void take_unknown_thread(struct Tick* tick, const struct Sample* sample) {
  char* record = bpf_ringbuf_reserve(&ring, ROOM(0), 0);
  if (!record) return;  // stays counted as what it most likely is, a tick in a thread that is not Java's
  begin_record(record, tick, sample);
  bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
}

SECTION("program")
int take_fragment(struct Tick* tick) {
  struct bpf_pidns_info ids;
  if (bpf_get_ns_current_pid_tgid(settings.namespace_device, settings.namespace_inode, &ids, sizeof(ids)) != 0)
    return 0;
  if (ids.tgid != settings.process || !is_trusted()) return 0;
  const __u32 zero = 0, cpu = bpf_get_smp_processor_id();
  const struct Told* told = bpf_map_lookup_elem(&bottoms, &zero);
  if (!told || !told->awake) return 0;
  struct Counters* counts = bpf_map_lookup_elem(&counters, &zero);
  const __u64* period = bpf_map_lookup_elem(&periods, &cpu);
  if (!counts || !period) return 0;
  struct Sample sample;
  sample.now = bpf_ktime_get_ns();
  sample.weight = *period;
  sample.continuation = 0;
  sample.tid = ids.pid;
  sample.thread = bpf_map_lookup_elem(&threads, &sample.tid);
  if (!sample.thread) {
    ++counts->other_threads;
    __builtin_memset(&sample.registers, 0, sizeof(sample.registers));
    take_unknown_thread(tick, &sample);
    return 0;
  }
  ++counts->taken;
  if (!read_registers(&sample.registers, tick)) {
    ++counts->registers_unreadable;
    return 0;
  }
  const __u64 java_thread = sample.thread->java_thread;
  if (java_thread == 0) {
    sample.base = java_bottom(sample.thread->serial);
    take_platform_thread(tick, &sample, counts);
    counts->ns += bpf_ktime_get_ns() - sample.now;
    return 0;
  }
  if (!read_word(java_thread + settings.java.stack_base, &sample.base) ||
      (settings.java.continuation != 0 && !read_word(java_thread + settings.java.continuation, &sample.continuation))) {
    ++counts->thread_unreadable;
    return 0;
  }
  if (is_carrier(java_thread, sample.continuation, sample.registers.sp, sample.base)) {
    take_virtual_thread(tick, &sample, cpu, counts);
  } else {
    take_platform_thread(tick, &sample, counts);
  }
  counts->ns += bpf_ktime_get_ns() - sample.now;
  return 0;
}
