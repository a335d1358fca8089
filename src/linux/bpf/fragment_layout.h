// What the eBPF program and the agent agree on: the record, the program's settings, its threads and its counters. Read
// by the C compiler for bpf and by ours; capture/kernel_fragments.h proves that the record is the one that handlers
// write.
#pragma once

#include <linux/types.h>

#ifdef __cplusplus
namespace tarsier::linux::bpf {
#endif

enum {
  kGeneralRegisters = 31,
  kMaxKernelFrames = 64,
  kMaxStack = 32 << 10,
  kMaxThreads = 1 << 15,
};

// Read-only for the program and, once it is loaded, for everybody: whoever gets hold of the maps' descriptors can't
// turn it on another process.
struct Settings {
  // The process: its id as its own pid namespace has it, and that namespace.
  __u64 namespace_device, namespace_inode;
  __u32 process;
  __u32 task_registers;  // the kernel tells the user's registers also when the tick hits in the kernel
  // Offsets in a JavaThread; 0 for continuation: there is none.
  __u64 anchor_sp, anchor_pc, anchor_fp, thread_state, continuation, stack_base;
  // Addresses of the two counters that are the epoch of class unloading; 0: there are none.
  __u64 unloaded, unloaded_shared;
};

// By thread id, as the process's own pid namespace has it.
struct Thread {
  __u64 java_thread;
  __u64 java_bottom;  // above this there are no Java frames; 0: not known, as nobody tells it yet
  __u32 serial;
  __u32 unused;
};

// One for each CPU.
struct Counters {
  __u64 taken;
  __u64 ring_full, registers_unreadable, thread_unreadable, stack_unreadable;  // of those
  __u64 other_threads;  // ticks in threads of the process that are not known
  __u64 ns;             // time in the program, of those taken
};

struct SampleHeader {
  __u64 time_ns, weight_ns;
  __u32 thread;
  __u16 kernel_count;
  __u16 flags;  // never set here
};

struct Fragment {
  __u64 pc, sp, fp;
  __u64 general[kGeneralRegisters];
  __u64 anchor_sp, anchor_pc, anchor_fp;
  __u64 continuation;
  __u32 thread_state, stack_bytes;
  __u64 epoch;
  // Of virtual threads: not copied here (yet), so always 0.
  __u64 virtual_id;
  __u32 frozen_bytes;
  __u16 name_bytes;
  __u8 name_is_utf16, frozen_cut;
  __u8 cut;
  __u8 unused[7];
};

#ifdef __cplusplus
}  // namespace tarsier::linux::bpf
#endif
