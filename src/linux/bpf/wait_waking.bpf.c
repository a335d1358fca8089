// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
//
// On the tracepoint sched_waking: the wait is over. Until the thread gets a CPU it stands in the run queue. This runs
// in whoever wakes it, so if the wait was long enough for an event, who that is goes into the ring: before the wait
// itself, which does once the thread has got its CPU.
#include "linux/bpf/waits.h"
#include "linux/bpf/waker_copy.h"

struct Waking {
  __u64 task;
};

SECTION("program")
int on_waking(struct Waking* what) {
  __u32 tid;
  struct WaitingThread* thread = thread_of_task(what->task, &tid);
  if (!thread || thread->since == 0 || thread->woken != 0) return 0;
  const __u64 now = bpf_ktime_get_ns();
  thread->woken = now;
  if (!settings.wakes.wanted || !thread->asleep || thread->copy == kNowhere) return 0;
  const __u64 length = now - thread->since;
  if (length < settings.min_wait_ns || (settings.max_wait_ns != 0 && length > settings.max_wait_ns)) return 0;
  struct WaitCounters* counts = counters_here();
  if (!counts) return 0;
  write_waker(thread, now, what, counts);
  counts->ns += bpf_ktime_get_ns() - now;
  return 0;
}
