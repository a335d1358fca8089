// What the three programs that find waits share. Each belongs to a tracepoint; together they work on the same maps.
#pragma once

#include "linux/bpf/helpers.h"
#include "linux/bpf/waits_layout.h"

const volatile struct WaitSettings settings = {};

MAP(threads);   // hash: thread id -> struct WaitingThread
MAP(tasks);     // hash: the kernel's task -> thread id
MAP(counters);  // one struct WaitCounters for each CPU

// The thread that runs on this CPU now, if it is one of ours.
static ALWAYS_INLINE struct WaitingThread* current_thread(__u32* tid) {
  struct bpf_pidns_info ids;
  if (bpf_get_ns_current_pid_tgid(settings.thread.namespace_device, settings.thread.namespace_inode, &ids,
                                  sizeof(ids)) != 0)
    return 0;
  if (ids.tgid != settings.thread.process) return 0;
  *tid = ids.pid;
  return bpf_map_lookup_elem(&threads, tid);
}

static ALWAYS_INLINE struct WaitingThread* thread_of_task(__u64 task) {
  const __u32* tid = bpf_map_lookup_elem(&tasks, &task);
  return tid ? bpf_map_lookup_elem(&threads, tid) : 0;
}

static ALWAYS_INLINE void add(struct TimeSum* sum, __u64 ns) {
  sum->ns += ns;
  sum->count += 1;
}
