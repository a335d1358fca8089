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

static ALWAYS_INLINE void add(struct TimeSum* sum, __u64 ns) {
  sum->ns += ns;
  sum->count += 1;
}

static ALWAYS_INLINE struct WaitCounters* counters_here(void) {
  const __u32 zero = 0;
  return bpf_map_lookup_elem(&counters, &zero);
}
