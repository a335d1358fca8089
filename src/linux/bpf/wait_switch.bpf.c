// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
//
// On the tracepoint sched_switch: a thread that leaves its CPU to sleep begins to wait, and leaves a copy of its stack;
// one that gets a CPU again has waited until it was woken, and stood in the run queue since. If that was long enough
// for an event, the copy goes into the ring; else it is forgotten.
#include "linux/bpf/wait_copy.h"
#include "linux/bpf/waits.h"

struct Switch {
  __u64 preempted, from, to, state;  // the state only since Linux 5.18
};

// Whoever waits for a disk can't be interrupted. If it is in no system call either, the memory that it wants to use has
// to be read from there.
static ALWAYS_INLINE __u32 flags_of_sleep(__u64 state) {
  const __u32 uninterruptible = 2;  // of the kernel's states of a task
  if (!(state & uninterruptible)) return 0;
  return kFlagUninterruptible | (is_in_system_call() ? 0 : kFlagPageFault);
}

// It leaves a CPU and was not seen to have come there: some kernels leave switches out. Its wait has ended, and if it
// was woken it is known when; what it did since then is in no sum.
static ALWAYS_INLINE void end_unseen(struct WaitingThread* thread, struct WaitCounters* counts) {
  const __u64 since = thread->since;
  if (since == 0 || !thread->asleep || thread->booked) return;
  if (thread->woken < since) {
    ++thread->missed.count;
  } else {
    const __u64 length = thread->woken - since;
    struct TimeSum* other = other_sum_for(thread, length);
    add(other ? other : &thread->missed, length);
    if (other) return;
  }
  ++counts->taken;
  ++counts->dropped[kDropEndUnseen];
}

// The wait before this turn on the CPU, if it was left out.
static ALWAYS_INLINE void book_late(struct WaitingThread* thread, __u64 delay, struct WaitCounters* counts) {
  const __u64 off = thread->unbooked;
  if (off == 0) return;
  __u64 queued = delay - thread->delay;
  if (queued > off) queued = off;
  const __u64 length = off - queued;
  thread->unbooked = 0;
  thread->queue += queued;
  struct TimeSum* other = other_sum_for(thread, length);
  add(other ? other : &thread->missed, length);
  if (other) return;
  ++counts->taken;
  ++counts->dropped[kDropLeftOut];
}

static ALWAYS_INLINE void leaves(const struct Switch* what, const struct Told* told, struct Seat* seat,
                                 struct WaitingThread* thread, __u32 slot, __u64 now, struct WaitCounters* counts) {
  const __u64 delay = delay_here();
  book_late(thread, delay, counts);
  thread->delay = delay;
  if (thread->running_since != 0) thread->ran += now - thread->running_since;
  if (!thread->has_left) {
    thread->has_left = 1;
    thread->first_left = now;
  }
  thread->running_since = 0;
  thread->woken = 0;
  thread->booked = 0;
  thread->asleep = !(what->preempted & 1) && (__u32)what->state != 0;
  if (thread->asleep) {
    const int left_out = is_left_out(told, now, thread->serial);
    watch(seat, what->from, !left_out || settings.task_delay == 0);
    thread->copy_flags = flags_of_sleep(what->state);
    thread->copy_failure = left_out ? kDropLeftOut : kWaitDrops;
    thread->copy = !left_out && copies_at_waker(thread) ? kAtWaker : kNowhere;
  }
  // Whoever wakes it just now sees a wait of no length, whatever else it sees.
  thread->since = now;
  if (!thread->asleep || thread->copy == kAtWaker || thread->copy_failure == kDropLeftOut) return;
  leave_copy(thread, slot);
  counts->stacks_ns += bpf_ktime_get_ns() - now;
}

static ALWAYS_INLINE int send(struct WaitingThread* thread, void* copy, __u64 room, __u64 since, __u64 length) {
  struct SampleHeader* header = copy;
  const __u64 bytes = thread->copy_bytes;
  if (bytes > room) return 0;  // can't be; for the verifier
  header->time_ns = since;
  header->weight_ns = length;
  header->flags = kFlagWaits | thread->copy_flags;
  if (bpf_ringbuf_output(&ring, copy, bytes, BPF_RB_NO_WAKEUP) != 0) return 0;
  // Its name is known from now on.
  const struct Fragment* fragment = (const struct Fragment*)(header + 1);
  if (fragment->name_bytes != 0) thread->named_virtual_id = fragment->virtual_id;
  return 1;
}

static ALWAYS_INLINE int send_copy(struct WaitingThread* thread, __u32 slot, __u64 since, __u64 length) {
  void* copy = 0;
  if (thread->copy == kNowhere) return 0;
  thread->copy_failure = kDropRingFull;  // unless it succeeds
  if (thread->copy == kSmall && (copy = bpf_map_lookup_elem(&small_copies, &slot)))
    return send(thread, copy, kSmallCopy, since, length);
  if (thread->copy == kMiddle && (copy = bpf_map_lookup_elem(&middle_copies, &slot)))
    return send(thread, copy, kMiddleCopy, since, length);
  if (thread->copy == kLarge && (copy = bpf_map_lookup_elem(&large_copies, &slot)))
    return send(thread, copy, kLargeCopy, since, length);
  return 0;
}

// It comes to a CPU and was not seen to have left the last one. Since when it did not run is not known.
static ALWAYS_INLINE void begin_unseen(struct WaitingThread* thread, __u64 now, struct WaitCounters* counts) {
  if (thread->running_since == 0) return;
  thread->running_since = now;
  ++thread->missed.count;
  ++counts->taken;
  ++counts->dropped[kDropBeginUnseen];
}

static ALWAYS_INLINE void comes(struct WaitingThread* thread, __u32 slot, __u64 now, struct WaitCounters* counts) {
  const __u64 since = thread->since;
  if (since == 0) {
    begin_unseen(thread, now, counts);
    return;
  }
  thread->since = 0;
  thread->running_since = now;
  if (!thread->asleep) {
    thread->queue += now - since;
    return;
  }
  if (thread->booked) {
    thread->queue += now - thread->woken;
    return;
  }
  if (thread->woken == 0 && thread->copy_failure == kDropLeftOut && settings.task_delay != 0 && now > since) {
    thread->unbooked = now - since;
    return;
  }
  // Nobody has been seen to wake it: then it was woken before it had left its CPU, and stood in the run queue all the
  // time, since no thread comes back otherwise.
  const __u64 unseen = thread->known ? since : now;
  const __u64 woken = thread->woken >= since && thread->woken <= now ? thread->woken : unseen;
  const __u64 length = woken - since;
  thread->queue += now - woken;
  struct TimeSum* other = other_sum_for(thread, length);
  if (other) {
    add(other, length);
  } else {
    ++counts->taken;
    if (send_copy(thread, slot, since, length)) {
      add(&thread->written, length);
    } else {
      const __u32 why = thread->copy_failure;
      if (why < kWaitDrops) ++counts->dropped[why];
      add(&thread->missed, length);
    }
  }
}

static ALWAYS_INLINE int ends(const struct Switch* what) {
  const __u64 dead = 0x80;  // of the kernel's states of a task
  return !(what->preempted & 1) && what->state & dead;
}

SECTION("program")
int on_switch(const struct Switch* context) {
  // The verifier does not permit the pointers into it that the compiler would keep.
  const struct Switch what = *context;
  __u32 left = 0, came = 0;
  struct WaitingThread* leaving = 0;
  struct Seat* seat = seat_of(what.from);
  if (!seat) return 0;  // can't be
  if (ends(&what)) {
    forget_task(seat, what.from);
  } else {
    leaving = current_thread(seat, what.from, &left);
  }
  struct WaitingThread* coming = coming_thread(what.to, &came);
  if (!leaving) {
    KEEP_APART;
    if (!coming) return 0;
  }
  const struct Told* told = told_if_awake();
  if (!told) return 0;
  struct WaitCounters* counts = counters_here();
  if (!counts) return 0;
  const __u64 now = bpf_ktime_get_ns();
  if (leaving) {
    end_unseen(leaving, counts);
    leaves(&what, told, seat, leaving, left, now, counts);
  }
  if (coming) comes(coming, came, now, counts);
  count_time(counts, now);
  return 0;
}
