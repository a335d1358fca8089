// What the programs that find waits share. Each belongs to a tracepoint; together they work on the same maps. Only for
// src/**/*.bpf.c.
#pragma once

#include "linux/bpf/helpers.h"
#include "linux/bpf/maps.h"
#include "linux/bpf/process_identity.h"
#include "linux/bpf/task_seats.h"
#include "linux/bpf/waits_layout.h"

// Of maps.h, `counters` is a struct WaitCounters here.
MAP(small_copies);   // hash: slot -> struct SmallCopy
MAP(middle_copies);  // and so on
MAP(large_copies);

// Chosen when the wait begins, when nobody knows how long it will be: so what is left is a fair sample. When exactly it
// does, to the nanosecond, is chance enough.
static ALWAYS_INLINE int is_left_out(const struct Told* told, __u64 now, __u32 serial) {
  const __u64 drawn = ((now ^ (__u64)serial << 32) * 0x9e3779b97f4a7c15UL >> 32) % kAllWaits;
  return drawn < told->left_out;
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

// What the kernel itself counts of the run queue, for the thread here. 0: it does not.
static ALWAYS_INLINE __u64 delay_here(void) {
  const __u64 delay = settings.task_delay;
  return delay != 0 ? *(const __u64*)((const char*)bpf_get_current_task_btf() + delay) : 0;
}

static ALWAYS_INLINE struct WaitCounters* counters_here(void) {
  const __u32 zero = 0;
  return bpf_map_lookup_elem(&counters, &zero);
}

// Looking at the clock is a good part of what a run takes. A number that no rhythm of threads has.
static ALWAYS_INLINE void count_time(struct WaitCounters* counts, __u64 began) {
  const __u64 kOfSo = 17;
  if (++counts->runs < kOfSo) return;
  counts->runs = 0;
  counts->ns += kOfSo * (bpf_ktime_get_ns() - began);
}
