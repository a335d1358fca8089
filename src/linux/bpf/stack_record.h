// The stack of a platform thread, from its last Java frame on, as a record that is written straight into the ring. Only
// for src/**/*.bpf.c.
#pragma once

#include "linux/bpf/helpers.h"
#include "linux/bpf/java_thread.h"
#include "linux/bpf/thread_place.h"
#include "linux/bpf/waits.h"

enum Written { kUnreadable, kNoRoom, kWritten };

// The verifier wants reservations of a constant size, and to see that what is copied fits: on every way through here
// `room` is a constant, too, so it does.
#define RESERVE_UP_TO(bytes)                              \
  if (stack <= (bytes)) {                                 \
    *room = (bytes);                                      \
    return bpf_ringbuf_reserve(&ring, head + (bytes), 0); \
  }
static ALWAYS_INLINE char* reserve(const __u64 head, __u64 stack, __u64* room) {
  RESERVE_UP_TO(512)
  RESERVE_UP_TO(1 << 10)
  RESERVE_UP_TO(3 << 9)
  RESERVE_UP_TO(2 << 10)
  RESERVE_UP_TO(3 << 10)
  RESERVE_UP_TO(4 << 10)
  RESERVE_UP_TO(8 << 10)
  RESERVE_UP_TO(16 << 10)
  RESERVE_UP_TO(kMaxStack)
  return 0;
}
// The compiler must not conclude anything from where the value comes from.
#define FORGET_ORIGIN(value) __asm__ volatile("" : "+r"(value))

// `who`, if there is one, comes before the rest.
static ALWAYS_INLINE enum Written write_stack(const struct Waker* who, const struct SampleHeader* header,
                                              const struct WaitingThread* thread, const struct Place* place,
                                              int runs_here) {
  const __u64 before = who ? sizeof(*who) : 0;
  const __u64 size = place->sp != 0 ? stack_size(place->sp, place->base, java_bottom(thread->serial)) : 0;
  __u64 bytes = size < kMaxStack ? size : kMaxStack, room = 0;
  char* record = reserve(before + kWaitHead, bytes, &room);
  if (!record) return kNoRoom;
  if (who) __builtin_memcpy(record, who, sizeof(*who));
  struct SampleHeader* written = (struct SampleHeader*)(record + before);
  struct Fragment* fragment = (struct Fragment*)(written + 1);
  *written = *header;
  const int read = begin_fragment(fragment, thread->java_thread, place, runs_here);
  fragment->stack_bytes = bytes;
  fragment->cut = size > bytes;
  FORGET_ORIGIN(bytes);
  FORGET_ORIGIN(room);
  if (!read || bytes > room || (bytes != 0 && bpf_probe_read_user(fragment + 1, bytes, (const void*)place->sp) != 0)) {
    bpf_ringbuf_discard(record, BPF_RB_NO_WAKEUP);
    return kUnreadable;
  }
  bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
  return kWritten;
}
