// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
//
// On the tracepoint sched_waking: the wait is over. Until the thread gets a CPU it stands in the run queue. This runs
// in whoever wakes it, so if the wait was long enough for an event, who that is goes into the ring: before the wait
// itself, which does once the thread has got its CPU, or at once if its stack was left to its waker.
#include "linux/bpf/stack_record.h"
#include "linux/bpf/waits.h"
#include "linux/bpf/waker_copy.h"

struct Waking {
  __u64 task;
};

// What the thread that is woken would have left behind; it sleeps still, so its stack is what it was. A drop, or
// kWaitDrops if it is written.
static ALWAYS_INLINE __u32 write_wait(struct WaitingThread* thread, const struct Here* here, __u64 length) {
  if (!here->in_process) {
    thread->copies_itself = 1;  // from now on
    return kDropStranger;
  }
  struct Place place;
  if (!find_place(&place, thread->java_thread, 0)) return kDropThreadUnreadable;
  if (place.wants_monitor) thread->copy_flags |= kFlagBlocked;
  struct SampleHeader header = {};
  header.time_ns = thread->since;
  header.weight_ns = length;
  header.thread = thread->serial;
  header.flags = kFlagWaits | thread->copy_flags;
  const enum Written written = write_stack(0, &header, thread, &place, 0);
  if (written == kNoRoom) return kDropRingFull;
  return written == kWritten ? kWaitDrops : kDropStackUnreadable;
}

static ALWAYS_INLINE void end_here(struct WaitingThread* thread, const struct Here* here, __u64 length,
                                   struct WaitCounters* counts) {
  const __u32 drop = write_wait(thread, here, length);
  ++counts->taken;
  if (drop < kWaitDrops) ++counts->dropped[drop];
  add(drop < kWaitDrops ? &thread->missed : &thread->written, length);
  thread->booked = 1;
}

static ALWAYS_INLINE void end_wait(struct Waking* what, struct WaitingThread* thread, __u64 now,
                                   struct WaitCounters* counts) {
  const __u64 length = now > thread->since ? now - thread->since : 0;
  const int ends_here = thread->copy == kAtWaker;
  struct TimeSum* other = other_sum_for(thread, length);
  if (other && ends_here) {
    add(other, length);
    thread->booked = 1;
  }
  if (other) return;
  const struct Here here = who_is_here();
  if (settings.wakes.wanted) write_waker(thread, &here, now, what, counts);
  if (ends_here) end_here(thread, &here, length, counts);
  counts->stacks_ns += bpf_ktime_get_ns() - now;
}

SECTION("program")
int on_waking(struct Waking* what) {
  __u32 slot;
  struct WaitingThread* thread = woken_thread(what->task, &slot);
  if (!thread || thread->since == 0 || thread->woken != 0) return 0;
  struct WaitCounters* counts = told_if_awake() ? counters_here() : 0;
  if (!counts) return 0;
  const __u64 now = bpf_ktime_get_ns();
  thread->woken = now;
  if (thread->asleep && thread->copy != kNowhere) end_wait(what, thread, now, counts);
  count_time(counts, now);
  return 0;
}
