// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
//
// On the tracepoint sched_waking: the wait is over. Until the thread gets a CPU it stands in the run queue.
#include "linux/bpf/waits.h"

struct Waking {
  __u64 task;
};

SECTION("program")
int on_waking(struct Waking* what) {
  __u32 tid;
  struct WaitingThread* thread = thread_of_task(what->task, &tid);
  if (thread && thread->since != 0 && thread->woken == 0) thread->woken = bpf_ktime_get_ns();
  return 0;
}
