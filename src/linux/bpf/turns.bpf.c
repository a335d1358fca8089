// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
//
// On the tracepoint sched_switch: how long which thread of the process was on which CPU, and how long anybody was. Time
// on the wall: what the hypervisor takes from a CPU while a thread is on it is in there, on every kernel.
#include "linux/bpf/helpers.h"
#include "linux/bpf/maps.h"
#include "linux/bpf/process_identity.h"
#include "linux/bpf/turns_layout.h"

MAP(turns);  // hash: struct TurnKey -> ns
MAP(cpus);   // array: CPU -> struct CpuTurn
// Nobody but the program has these, in which there are addresses of the kernel's.
MAP(tasks);       // hash: the kernel's task -> thread id, of those threads that have been seen
MAP(idle_tasks);  // array: CPU -> the task for when there is none

struct Switch {
  __u64 preempted, from, to, state;  // the state only since Linux 5.18
};

static ALWAYS_INLINE __u32 current_of_process(void) {
  struct bpf_pidns_info ids;
  if (bpf_get_ns_current_pid_tgid(settings.namespace_device, settings.namespace_inode, &ids, sizeof(ids)) != 0)
    return 0;
  return ids.tgid == settings.process && is_trusted() ? ids.pid : 0;
}

static ALWAYS_INLINE void add_turn(struct CpuTurn* here, __u32 cpu, __u32 tid, __u64 task, __u64 ns) {
  const struct TurnKey key = {tid, cpu};
  __u64* sum = bpf_map_lookup_elem(&turns, &key);
  if (sum) {
    *sum += ns;  // nobody else has this key: it is of this CPU
    return;
  }
  if (bpf_map_update_elem(&turns, &key, &ns, BPF_NOEXIST) != 0) here->no_room += ns;
  bpf_map_update_elem(&tasks, &task, &tid, BPF_ANY);
}

SECTION("program")
int on_switch(struct Switch* what) {
  const __u32 cpu = bpf_get_smp_processor_id();
  struct CpuTurn* here = bpf_map_lookup_elem(&cpus, &cpu);
  if (!here) return 0;
  const __u64 now = bpf_ktime_get_ns();
  const __u64 ns = here->since != 0 ? now - here->since : 0;
  const __u32 dead = 0x80;  // of the kernel's states of a task: it never comes again
  __u64 task = what->from;
  if ((__u32)bpf_get_current_pid_tgid() == 0) {
    bpf_map_update_elem(&idle_tasks, &cpu, &task, BPF_ANY);
  } else {
    here->busy += ns;
    const __u32 tid = current_of_process();
    if (tid != 0) add_turn(here, cpu, tid, task, ns);
    if (tid != 0 && (what->state & dead)) bpf_map_delete_elem(&tasks, &task);
  }
  task = what->to;
  const __u32* coming = bpf_map_lookup_elem(&tasks, &task);
  here->tid = coming && is_trusted_task(task) ? *coming : 0;
  const __u64* idle = bpf_map_lookup_elem(&idle_tasks, &cpu);
  here->idle = idle && *idle == task;
  here->since = now;
  return 0;
}
