// What a thread leaves behind when it goes to sleep: a record with the piece of its stack from its last Java frame on.
// Runs in that thread, on its way out. Only for src/**/*.bpf.c.
#pragma once

#include "linux/bpf/frozen_frames.h"
#include "linux/bpf/helpers.h"
#include "linux/bpf/java_thread.h"
#include "linux/bpf/thread_place.h"
#include "linux/bpf/waits.h"

static ALWAYS_INLINE int fail(struct WaitingThread* thread, __u32 why) {
  thread->copy_failure = why;
  return 0;
}

// Header and fragment, but for the bytes of the stack. 0 if it can't be read.
static ALWAYS_INLINE int begin_copy(char* record, const struct WaitingThread* thread, const struct Place* place) {
  struct SampleHeader* header = (struct SampleHeader*)record;
  header->thread = thread->serial;
  header->kernel_count = 0;
  return begin_fragment((struct Fragment*)(header + 1), thread->java_thread, place, 1);
}

static ALWAYS_INLINE void copied(struct WaitingThread* thread, __u32 place, __u32 bytes) {
  thread->copy_bytes = bytes;
  thread->copy = place;
}

static ALWAYS_INLINE void copy_from_scratch(struct WaitingThread* thread, const struct Scratch* scratch, void* to,
                                            __u32 place, __u64 room) {
  const __u64 bytes = scratch->at;
  if (bytes > room || bpf_probe_read_kernel(to, bytes, scratch->record) != 0) return;
  copied(thread, place, bytes);
}

static ALWAYS_INLINE void place_scratch(struct WaitingThread* thread, __u32 slot, const struct Scratch* scratch) {
  void* to = 0;
  thread->copy_failure = kDropNoPlace;
  if (scratch->at > kMiddleCopy && (to = bpf_map_lookup_elem(&large_copies, &slot))) {
    copy_from_scratch(thread, scratch, to, kLarge, kLargeCopy);
  } else if ((to = bpf_map_lookup_elem(&middle_copies, &slot))) {
    copy_from_scratch(thread, scratch, to, kMiddle, kMiddleCopy);
  } else if ((to = bpf_map_lookup_elem(&small_copies, &slot))) {
    copy_from_scratch(thread, scratch, to, kSmall, kSmallCopy);
  }
}

// And of the stack what is too much for so much room.
static ALWAYS_INLINE void leave_frozen_out(struct Scratch* scratch, struct Fragment* fragment, __u64 room) {
  fragment->frozen_bytes = 0;
  fragment->frozen_cut = 1;
  fragment->name_bytes = 0;
  if (fragment->stack_bytes > room - kWaitHead) {
    fragment->stack_bytes = room - kWaitHead;
    fragment->cut = 1;
  }
  scratch->at = kWaitHead + fragment->stack_bytes;
}

// Of a carrier whose virtual thread waits on it: with the frames in the heap, as the sampling program has them.
static ALWAYS_INLINE int copy_virtual_thread(struct WaitingThread* thread, __u32 slot, const struct Place* place) {
  const __u32 cpu = bpf_get_smp_processor_id();
  struct Scratch* scratch = bpf_map_lookup_elem(&scratches, &cpu);
  if (!scratch) return fail(thread, kDropNoPlace);  // can't be: every CPU has one
  if (!begin_copy((char*)scratch->record, thread, place)) return fail(thread, kDropThreadUnreadable);
  struct Fragment* fragment = (struct Fragment*)(scratch->record + sizeof(struct SampleHeader));
  struct Mounted mounted;
  find_mounted(fragment, thread->java_thread, thread->named_virtual_id, &mounted);
  // A virtual thread's stack ends where its carrier has entered it.
  const __u64 entered = fragment->virtual_id != 0 && place->continuation != 0 ? place->continuation + kEntryBytes : 0;
  const __u64 size = stack_size(place->sp, place->base, entered != 0 ? entered : java_bottom(thread->serial));
  const __u64 bytes = size < kMaxStack ? size : kMaxStack;
  fragment->stack_bytes = bytes;
  fragment->cut = size > bytes;
  if (bytes != 0 && bpf_probe_read_user(fragment + 1, bytes, (const void*)place->sp) != 0)
    return fail(thread, kDropStackUnreadable);
  const __u64 frozen_begin = kWaitHead + bytes;
  scratch->at = frozen_begin;
  if (mounted.continuation != 0 && !copy_frozen_frames(scratch, fragment, mounted.continuation))
    fragment->frozen_cut = 1;
  fragment->frozen_bytes = scratch->at - frozen_begin;
  copy_name(scratch, fragment, mounted.name_from);
  place_scratch(thread, slot, scratch);
  if (thread->copy != kNowhere) return 1;
  // It does not fit. What is missing is said, so the agent will give it a larger place.
  leave_frozen_out(scratch, fragment, kMiddleCopy);
  place_scratch(thread, slot, scratch);
  if (thread->copy != kNowhere) return 1;
  leave_frozen_out(scratch, fragment, kSmallCopy);
  place_scratch(thread, slot, scratch);
  return 1;
}

// `size`: of the stack, which is cut if there is not that much room.
static ALWAYS_INLINE int copy_to(struct WaitingThread* thread, const struct Place* place, __u64 size, char* to,
                                 __u32 which, __u64 room) {
  const __u64 most = room - kWaitHead;
  const __u64 bytes = size < most ? size : most;
  if (!begin_copy(to, thread, place)) return fail(thread, kDropThreadUnreadable);
  struct Fragment* fragment = (struct Fragment*)(to + sizeof(struct SampleHeader));
  fragment->stack_bytes = bytes;
  fragment->cut = size > bytes;
  if (bytes != 0 && bpf_probe_read_user(to + kWaitHead, bytes, (const void*)place->sp) != 0)
    return fail(thread, kDropStackUnreadable);
  copied(thread, which, kWaitHead + bytes);
  return 1;
}

// A stack that does not fit is cut; most of its Java frames lie at the near end. If some are missing, the agent gives
// the thread a larger place for the next one.
static ALWAYS_INLINE int copy_platform_thread(struct WaitingThread* thread, __u32 slot, const struct Place* place) {
  const __u64 size = place->sp != 0 ? stack_size(place->sp, place->base, java_bottom(thread->serial)) : 0;
  char* to = 0;
  if (kWaitHead + size > kMiddleCopy && (to = bpf_map_lookup_elem(&large_copies, &slot)))
    return copy_to(thread, place, size, to, kLarge, kLargeCopy);
  if ((to = bpf_map_lookup_elem(&middle_copies, &slot))) return copy_to(thread, place, size, to, kMiddle, kMiddleCopy);
  if ((to = bpf_map_lookup_elem(&small_copies, &slot))) return copy_to(thread, place, size, to, kSmall, kSmallCopy);
  return fail(thread, kDropNoPlace);
}

// Nobody but a thread of the same process ends this wait (or a signal, rarely): there is time for the copy until then,
// and if the wait is short, none is needed. A virtual thread is left to its carrier, which knows how.
static ALWAYS_INLINE int copies_at_waker(struct WaitingThread* thread) {
  if (!thread->known || thread->copies_itself || settings.min_wait_ns == 0 || settings.task_runtime == 0) return 0;
  if (!waits_for_own_process()) return 0;
  const char* runtime = (const char*)bpf_get_current_task() + settings.task_runtime;
  if (bpf_probe_read_kernel(&thread->runtime, sizeof(thread->runtime), runtime) != 0) return 0;
  if (!VIRTUAL.present) return 1;
  struct Place place;
  if (!find_place(&place, thread->java_thread, 1)) return 0;
  return place.sp == 0 || !is_carrier(thread->java_thread, place.continuation, place.sp, place.base);
}

static ALWAYS_INLINE int leave_copy(struct WaitingThread* thread, __u32 slot) {
  struct Place place;
  if (!find_place(&place, thread->java_thread, 1)) return fail(thread, kDropThreadUnreadable);
  if (place.wants_monitor) thread->copy_flags |= kFlagBlocked;
  if (place.sp != 0 && is_carrier(thread->java_thread, place.continuation, place.sp, place.base))
    return copy_virtual_thread(thread, slot, &place);
  return copy_platform_thread(thread, slot, &place);
}
