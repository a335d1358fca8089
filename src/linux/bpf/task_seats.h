// From one of the kernel's tasks to the thread of ours that it is, at every switch and wake-up: at a glance, by a seat
// that the task's address leads to. Only for src/**/*.bpf.c.
#pragma once

#include "linux/bpf/helpers.h"
#include "linux/bpf/maps.h"
#include "linux/bpf/process_identity.h"
#include "linux/bpf/waits_layout.h"

// Of maps.h, `threads` is an array of struct WaitingThread here, by slots.
MAP(slots);  // hash: thread id -> slot
// Nobody but the programs has these: what happens to a task that is in there is told of the thread that it leads to.
MAP(seats);  // array of struct Seat, by the task's address
MAP(tasks);  // hash: the kernel's task -> struct Seated

// What the agent tells, if it wants anything to be done.
static ALWAYS_INLINE const struct Told* told_if_awake(void) {
  const __u32 zero = 0;
  const struct Told* told = bpf_map_lookup_elem(&bottoms, &zero);
  return told && told->awake ? told : 0;
}

static ALWAYS_INLINE struct Seat* seat_of(__u64 task) {
  const __u32 place = (task * 0x9e3779b97f4a7c15UL) >> (64 - kSeatBits);
  return bpf_map_lookup_elem(&seats, &place);
}

// Mixed into one word, which is either there or not, whoever else writes the seat meanwhile. A slot that the agent has
// given to another thread has another serial number in it.
static ALWAYS_INLINE __u64 key_of(__u64 task, __u32 serial) {
  return task ^ (__u64)serial * 0xd6e8feb86659fd93UL;
}

static ALWAYS_INLINE struct WaitingThread* thread_on(const struct Seat* seat, __u64 task, __u32* slot) {
  *slot = seat->slot;
  struct WaitingThread* thread = bpf_map_lookup_elem(&threads, slot);
  return thread && seat->key == key_of(task, thread->serial) ? thread : 0;
}

static ALWAYS_INLINE void sit_down(struct Seat* seat, __u64 task, __u32 slot, __u32 serial) {
  seat->slot = slot;
  seat->key = key_of(task, serial);
}

// The seat is written only if something changes: whoever wakes the thread has it in his cache.
static ALWAYS_INLINE void watch(struct Seat* seat, __u64 task, int wanted) {
  if (!wanted) {
    if (seat->unwatched != task) seat->unwatched = task;
  } else if (seat->unwatched == task) {
    seat->unwatched = 0;
  }
}

// Whoever has left a CPU before.
static ALWAYS_INLINE struct WaitingThread* thread_of_task(struct Seat* seat, __u64 task, __u32* slot) {
  struct WaitingThread* thread = thread_on(seat, task, slot);
  if (!thread) {
    const struct Seated* known = bpf_map_lookup_elem(&tasks, &task);
    if (!known) return 0;
    *slot = known->slot;
    thread = bpf_map_lookup_elem(&threads, slot);
    if (!thread || thread->serial != known->serial) return 0;
    sit_down(seat, task, *slot, known->serial);
  }
  return is_trusted_task(task) ? thread : 0;
}

static ALWAYS_INLINE struct WaitingThread* coming_thread(__u64 task, __u32* slot) {
  struct Seat* seat = seat_of(task);
  return seat && seat->stranger != task ? thread_of_task(seat, task, slot) : 0;
}

// If anybody wants to know that it is woken.
static ALWAYS_INLINE struct WaitingThread* woken_thread(__u64 task, __u32* slot) {
  struct Seat* seat = seat_of(task);
  if (!seat || seat->stranger == task || seat->unwatched == task) return 0;
  return thread_of_task(seat, task, slot);
}

// Should the end of one ever go unseen, a thread of ours that has got its task is not taken for it: its process is
// another.
static ALWAYS_INLINE int stranger_is_here(const struct Seat* seat, __u64 task) {
  return seat->stranger == task && seat->stranger_process == bpf_get_current_pid_tgid() >> 32;
}

// The thread that runs on this CPU now, if it is one of ours.
static ALWAYS_INLINE struct WaitingThread* current_thread(struct Seat* seat, __u64 task, __u32* slot) {
  struct bpf_pidns_info ids;
  if (stranger_is_here(seat, task)) return 0;
  struct WaitingThread* thread = thread_on(seat, task, slot);
  if (thread) return is_trusted() ? thread : 0;
  if (bpf_get_ns_current_pid_tgid(settings.namespace_device, settings.namespace_inode, &ids, sizeof(ids)) != 0 ||
      ids.tgid != settings.process) {
    seat->stranger_process = bpf_get_current_pid_tgid() >> 32;
    seat->stranger = task;  // until it ends
    return 0;
  }
  if (!is_trusted() || !told_if_awake()) return 0;
  const __u32* known = bpf_map_lookup_elem(&slots, &ids.pid);
  if (!known) return 0;
  *slot = *known;
  thread = bpf_map_lookup_elem(&threads, slot);
  if (!thread) return 0;
  const struct Seated seated = {*slot, thread->serial};
  if (!thread->known && bpf_map_update_elem(&tasks, &task, &seated, BPF_ANY) == 0) thread->known = 1;
  sit_down(seat, task, *slot, thread->serial);
  if (seat->stranger == task) seat->stranger = 0;
  return thread;
}

// Another thread, of any process, may get its task_struct. By now it has no thread id, so whose it was can't be told.
static ALWAYS_INLINE void forget_task(struct Seat* seat, __u64 task) {
  bpf_map_delete_elem(&tasks, &task);
  if (seat->stranger == task) seat->stranger = 0;
  if (seat->unwatched == task) seat->unwatched = 0;
  seat->key = 0;
}
