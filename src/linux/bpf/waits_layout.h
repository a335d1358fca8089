// What the eBPF programs that find waits and the agent agree on. The records in their ring are those of
// fragment_layout.h.
#pragma once

#include "linux/bpf/fragment_layout.h"

#ifdef __cplusplus
namespace tarsier::linux::bpf {
#endif

// Of SampleHeader::flags; a test proves that they are those of the header that handlers write.
enum { kFlagWaits = 1 << 0, kFlagBlocked = 1 << 3, kFlagFromBefore = 1 << 5 };

// Read-only for the programs and, once they are loaded, for everybody.
struct WaitSettings {
  struct Settings thread;  // whose, and where a JavaThread keeps what is copied
  __u64 pending_monitor;   // offset in a JavaThread; 0: not known
  __u64 min_ns, max_ns;    // 0 for max: there is none
};

struct TimeSum {
  __u64 ns, count;
};

// By thread id, as the process's own pid namespace has it.
struct WaitingThread {
  __u64 java_thread;
  __u64 java_bottom;  // above this there are no Java frames; 0: not known
  __u32 serial;
  __u32 asleep;  // if it is off its CPU: it waits; else it was preempted
  __u64 task;    // the kernel's own, once it has been seen
  __u64 since;   // off its CPU since then; 0: it is on one
  __u64 woken;   // and was woken then; 0: not yet
  __u64 due;     // the length of a wait that is over, and whose stack is to be copied on return from the kernel
  __u64 due_since;
  __u32 in_call;      // it sleeps in a system call; else in a page fault
  __u32 from_before;  // it slept already when it was made known to us
  struct TimeSum queue, written, shorter, longer, missed;
};

// One for each CPU. What is dropped is among taken.
struct WaitCounters {
  __u64 taken;
  __u64 in_fault, ring_full, thread_unreadable, stack_unreadable;
  __u64 ns;  // time in the programs, where they found one of ours
};

#ifdef __cplusplus
}  // namespace tarsier::linux::bpf
#endif
