// Is it still the process that a lent program was made for (linux/borrower.h), and no other of its id, or another
// program with other rights? Only for src/**/*.bpf.c.
#pragma once

#include "linux/bpf/fragment_layout.h"
#include "linux/bpf/helpers.h"
#include "linux/bpf/maps.h"

// 0 if it can't be read.
static ALWAYS_INLINE int read_identity(__u64 of_task, struct Identity* out) {
  const char* task = (const char*)of_task;
  const char* leader = 0;
  if (bpf_probe_read_kernel(&leader, 8, task + settings.task_leader) != 0) return 0;
  if (bpf_probe_read_kernel(&out->start, 8, leader + settings.leader_start) != 0) return 0;
  const void* executed = task + settings.task_executed;
  if (settings.executed_bytes == 4) return bpf_probe_read_kernel(&out->executed, 4, executed) == 0;
  return bpf_probe_read_kernel(&out->executed, 8, executed) == 0;
}

// Of a task that once was one of the process's.
static ALWAYS_INLINE int is_trusted_task(__u64 task) {
  if (settings.executed_bytes == 0) return 1;
  const __u32 trusted_key = kTrusted;
  const struct Identity* trusted = bpf_map_lookup_elem(&identities, &trusted_key);
  struct Identity now = {};
  if (!trusted || trusted->start == 0 || !read_identity(task, &now)) return 0;
  return now.start == trusted->start && now.executed == trusted->executed;
}

// Of the thread that runs here, whose process has the right id. As long as nobody is trusted this tells the lender who
// was seen.
static ALWAYS_INLINE int is_trusted(void) {
  if (settings.executed_bytes == 0) return 1;
  const __u32 seen_key = kSeen, trusted_key = kTrusted;
  struct Identity* seen = bpf_map_lookup_elem(&identities, &seen_key);
  const struct Identity* trusted = bpf_map_lookup_elem(&identities, &trusted_key);
  struct Identity now = {};
  if (!seen || !trusted || !read_identity(bpf_get_current_task(), &now)) return 0;
  if (trusted->start != 0) return now.start == trusted->start && now.executed == trusted->executed;
  now.check = check_of(&now);
  *seen = now;
  return 0;
}
