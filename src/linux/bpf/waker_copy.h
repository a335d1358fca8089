// Who has woken a thread, as a record in the ring; of a Java thread with the piece of its stack from its last Java
// frame on. Runs in the waker. Only for src/**/*.bpf.c.
#pragma once

#include "linux/bpf/frozen_frames.h"
#include "linux/bpf/helpers.h"
#include "linux/bpf/java_thread.h"
#include "linux/bpf/stack_record.h"
#include "linux/bpf/thread_place.h"
#include "linux/bpf/waits.h"
#include "linux/bpf/wake_context.h"

static ALWAYS_INLINE void begin_header(struct SampleHeader* header, const struct WaitingThread* waker, __u64 now) {
  header->time_ns = now;
  header->weight_ns = 0;
  header->thread = waker->serial;
  header->kernel_count = 0;
  header->flags = kFlagKept;
}

// What is said of the waker is then all that is said.
static ALWAYS_INLINE void write_without_stack(const struct Waker* who, struct WaitCounters* counts) {
  if (bpf_ringbuf_output(&ring, (void*)who, sizeof(*who), BPF_RB_NO_WAKEUP) != 0) ++counts->lost_wakers;
}

// 0 if there is no stack.
static ALWAYS_INLINE int write_platform_thread(const struct Waker* who, const struct WaitingThread* waker, __u64 now,
                                               const struct Place* place, struct WaitCounters* counts) {
  struct SampleHeader header;
  begin_header(&header, waker, now);
  const enum Written written = write_stack(who, &header, waker, place, 1);
  if (written == kNoRoom) ++counts->lost_wakers;  // nor is there room for less
  return written != kUnreadable;
}

static ALWAYS_INLINE int write_virtual_thread(const struct Waker* who, struct WaitingThread* waker, __u64 now,
                                              const struct Place* place, struct WaitCounters* counts) {
  const __u32 cpu = bpf_get_smp_processor_id();
  struct Scratch* scratch = bpf_map_lookup_elem(&scratches, &cpu);
  if (!scratch) return 0;  // can't be: every CPU has one
  struct SampleHeader* header = (struct SampleHeader*)(scratch->record + sizeof(*who));
  struct Fragment* fragment = (struct Fragment*)(header + 1);
  __builtin_memcpy(scratch->record, who, sizeof(*who));
  begin_header(header, waker, now);
  if (!begin_fragment(fragment, waker->java_thread, place, 1)) return 0;
  struct Mounted mounted;
  find_mounted(fragment, waker->java_thread, waker->named_virtual_id, &mounted);
  // A virtual thread's stack ends where its carrier has entered it.
  const __u64 entered = fragment->virtual_id != 0 && place->continuation != 0 ? place->continuation + kEntryBytes : 0;
  const __u64 size = stack_size(place->sp, place->base, entered != 0 ? entered : java_bottom(waker->serial));
  const __u64 bytes = size < kMaxStack ? size : kMaxStack;
  fragment->stack_bytes = bytes;
  fragment->cut = size > bytes;
  if (bytes != 0 && bpf_probe_read_user(fragment + 1, bytes, (const void*)place->sp) != 0) return 0;
  const __u64 frozen_begin = kWakerHead + bytes;
  scratch->at = frozen_begin;
  if (mounted.continuation != 0 && !copy_frozen_frames(scratch, fragment, mounted.continuation))
    fragment->frozen_cut = 1;
  fragment->frozen_bytes = scratch->at - frozen_begin;
  copy_name(scratch, fragment, mounted.name_from);
  const __u64 all = scratch->at;
  if (all > kScratchRecord || bpf_ringbuf_output(&ring, scratch->record, all, BPF_RB_NO_WAKEUP) != 0) {
    ++counts->lost_wakers;
  } else if (fragment->name_bytes != 0) {
    waker->named_virtual_id = fragment->virtual_id;
  }
  return 1;
}

static ALWAYS_INLINE int write_with_stack(const struct Waker* who, struct WaitingThread* waker, __u64 now,
                                          struct WaitCounters* counts) {
  struct Place place;
  if (!find_place(&place, waker->java_thread, 1)) return 0;
  if (place.sp != 0 && is_carrier(waker->java_thread, place.continuation, place.sp, place.base))
    return write_virtual_thread(who, waker, now, &place, counts);
  return write_platform_thread(who, waker, now, &place, counts);
}

static ALWAYS_INLINE void write_waker(const struct WaitingThread* woken, const struct Here* here, __u64 now,
                                      void* program_context, struct WaitCounters* counts) {
  struct Waker who;
  __builtin_memset(&who, 0, sizeof(who));
  who.mark = kWakerMark;
  who.since = woken->since;
  who.woken = woken->serial;
  const enum Context context = context_here(program_context);
  if (context != kThreadItself) {
    who.by = context == kInterrupt ? kByInterrupt : kByUnknown;
    return write_without_stack(&who, counts);
  }
  if (!here->in_process) {
    who.by = kByProcess;
    if (settings.hide_processes) return write_without_stack(&who, counts);
    who.id = bpf_get_current_pid_tgid() >> 32;
    read_process_name(who.name);
    return write_without_stack(&who, counts);
  }
  who.by = kByJvm;
  who.id = here->tid;
  bpf_get_current_comm(who.name, sizeof(who.name));
  const __u32* slot = bpf_map_lookup_elem(&slots, &who.id);
  struct WaitingThread* waker = slot ? bpf_map_lookup_elem(&threads, slot) : 0;
  if (!waker) return write_without_stack(&who, counts);
  who.by = kByThread;
  who.thread = waker->serial;
  if (write_with_stack(&who, waker, now, counts)) return;
  ++counts->wakers_without_stack;
  write_without_stack(&who, counts);
}
