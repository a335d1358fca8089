// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
//
// On the tracepoint sched_switch: a thread that leaves its CPU to sleep begins to wait; one that gets a CPU again has
// waited until it was woken, and stood in the run queue since. Waits that deserve an event are left to
// wait_return.bpf.c, which runs in the thread itself: here the memory at hand is that of the thread that goes.
#include "linux/bpf/waits.h"

struct Switch {
  __u64 preempted, from, to, state;  // the state only since Linux 5.18
};

#if defined(__TARGET_ARCH_arm64)
struct SystemCall {
  __u64 general[31], sp, pc, pstate, orig_x0;
  __s32 number;  // -1: none
};
#define IN_CALL(call) ((call)->number >= 0)
#elif defined(__TARGET_ARCH_x86)
struct SystemCall {
  __u64 general[15];
  __s64 number;
};
#define IN_CALL(call) ((call)->number >= 0)
#endif

static ALWAYS_INLINE void leaves(const struct Switch* what, __u64 now) {
  __u32 tid;
  struct WaitingThread* thread = current_thread(&tid);
  if (!thread) return;
  const __u64 task = what->from;
  if (thread->task != task) {
    thread->task = task;
    bpf_map_update_elem(&tasks, &task, &tid, BPF_ANY);
  }
  // One that slept when we came, was woken, and loses its CPU on its way back.
  if (thread->from_before && thread->since != 0) {
    thread->due = now - thread->since;
    thread->due_since = thread->since;
  }
  thread->woken = 0;
  thread->asleep = !(what->preempted & 1) && (__u32)what->state != 0;
  if (thread->asleep) {
    struct SystemCall call;
    thread->in_call =
        bpf_probe_read_kernel(&call, sizeof(call), bpf_task_pt_regs(bpf_get_current_task_btf())) == 0 && IN_CALL(&call);
  }
  thread->since = now;
}

static ALWAYS_INLINE void comes(const struct Switch* what, __u64 now) {
  struct WaitingThread* thread = thread_of_task(what->to);
  if (!thread || thread->since == 0) return;
  const __u64 since = thread->since;
  thread->since = 0;
  if (!thread->asleep) {
    thread->queue.ns += now - since;
    return;
  }
  const __u64 woken = thread->woken >= since && thread->woken <= now ? thread->woken : now;
  const __u64 length = woken - since;
  thread->queue.ns += now - woken;
  // It has slept before in the same system call: one wait for whoever called it.
  if (thread->due != 0) {
    thread->due += length;
    return;
  }
  if (length < settings.min_ns) {
    add(&thread->shorter, length);
  } else if (settings.max_ns != 0 && length > settings.max_ns) {
    add(&thread->longer, length);
  } else if (thread->in_call) {
    thread->due = length;
    thread->due_since = since;
  } else {
    const __u32 zero = 0;
    struct WaitCounters* counts = bpf_map_lookup_elem(&counters, &zero);
    add(&thread->missed, length);
    if (counts) {
      ++counts->taken;
      ++counts->in_fault;
    }
  }
}

SECTION("program")
int on_switch(struct Switch* what) {
  const __u64 now = bpf_ktime_get_ns();
  leaves(what, now);
  comes(what, now);
  return 0;
}
