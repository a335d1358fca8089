// What the programs that find waits share. Each belongs to a tracepoint; together they work on the same maps. Only for
// src/**/*.bpf.c.
#pragma once

#include "linux/bpf/helpers.h"
#include "linux/bpf/maps.h"
#include "linux/bpf/process_identity.h"
#include "linux/bpf/waits_layout.h"

// Of maps.h, `threads` has a struct WaitingThread for each thread here, and `counters` is a struct WaitCounters.
// Nobody but the programs has `tasks`: what happens to a task that is in there is told of the thread that it leads to.
MAP(tasks);          // hash: the kernel's task -> thread id
MAP(small_copies);   // hash: thread id -> struct SmallCopy
MAP(middle_copies);  // and so on
MAP(large_copies);

static ALWAYS_INLINE int is_awake(void) {
  const __u32 zero = 0;
  const struct Told* told = bpf_map_lookup_elem(&bottoms, &zero);
  return told && told->awake;
}

// Chosen when the wait begins, when nobody knows how long it will be: so what is left is a fair sample.
static ALWAYS_INLINE int is_left_out(void) {
  const __u32 zero = 0;
  const struct Told* told = bpf_map_lookup_elem(&bottoms, &zero);
  return told && told->left_out != 0 && bpf_get_prandom_u32() % kAllWaits < told->left_out;
}

// The thread that runs on this CPU now, if it is one of ours.
static ALWAYS_INLINE struct WaitingThread* current_thread(__u32* tid) {
  struct bpf_pidns_info ids;
  if (bpf_get_ns_current_pid_tgid(settings.namespace_device, settings.namespace_inode, &ids, sizeof(ids)) != 0)
    return 0;
  if (ids.tgid != settings.process || !is_trusted() || !is_awake()) return 0;
  *tid = ids.pid;
  return bpf_map_lookup_elem(&threads, tid);
}

static ALWAYS_INLINE struct WaitingThread* thread_of_task(__u64 task, __u32* tid) {
  const __u32* known = bpf_map_lookup_elem(&tasks, &task);
  if (!known || !is_trusted_task(task) || !is_awake()) return 0;
  *tid = *known;
  return bpf_map_lookup_elem(&threads, tid);
}

// Who runs here.
struct Here {
  __u32 tid;
  __u32 in_process;  // it is a thread of the recorded process, and so is the memory at hand
};
static ALWAYS_INLINE struct Here who_is_here(void) {
  struct bpf_pidns_info ids;
  struct Here here = {};
  if (bpf_get_ns_current_pid_tgid(settings.namespace_device, settings.namespace_inode, &ids, sizeof(ids)) != 0)
    return here;
  here.tid = ids.pid;
  here.in_process = ids.tgid == settings.process && is_trusted_task(bpf_get_current_task());
  return here;
}

static ALWAYS_INLINE void add(struct TimeSum* sum, __u64 ns) {
  sum->ns += ns;
  sum->count += 1;
}

// How the wait is booked if there is nothing more to it. 0: it becomes an event.
static ALWAYS_INLINE struct TimeSum* other_sum_for(struct WaitingThread* thread, __u64 length) {
  if (length < settings.min_wait_ns) return &thread->shorter;
  if (settings.max_wait_ns != 0 && length > settings.max_wait_ns) return &thread->longer;
  return 0;
}

static ALWAYS_INLINE struct WaitCounters* counters_here(void) {
  const __u32 zero = 0;
  return bpf_map_lookup_elem(&counters, &zero);
}
