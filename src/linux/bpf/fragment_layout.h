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
  kMaxStack = 32 << 10,       // of a stack, if the ring is half full, and of a virtual thread's carrier
  kMaxDeepStack = 512 << 10,  // otherwise
  kMaxThreads = 1 << 15,
  kMaxFrozen = 32 << 10,  // bytes of frozen frames
  kMaxChunkHead = 128,
  kMaxName = 128,
  kEntryBytes = 64,  // of the frame by which a continuation is entered: more than a walk looks at
  kMaxBelow = 1024,  // words below those of a chunk that may be on their way to the stack
  kThreadInNative = 4,
  kThreadInJava = 8,
  kBottoms = 1 << 12,
  kAddressBits = 48,
  kAllWaits = 1 << 16,
};

// How the JVM keeps virtual threads: hotspot/sigsafe/virtual_thread.h, number by number.
struct VirtualThreads {
  __u64 carrier, current, current_id, continuation;
  __u64 thread_id, thread_name, thread_continuation;
  __u64 tail;
  __u64 chunk_parent, chunk_size, chunk_sp, chunk_bottom, chunk_words;
  __u64 text_value, text_coder, text_length, text_bytes;
  __u64 reference_base, bad_colours, colour_bits;
  __u64 code_begin, code_end;
  __u32 reference_shift, references_compressed;
  __u32 bottom_is_argument_size;
  __u32 present;  // 0: this JVM has none, or none that we understand
};

// Where a JVM keeps what is copied of its threads: whatever stands here, nothing but the process's own memory is read.
struct JavaLayout {
  // Offsets in a JavaThread; 0 for continuation and pending_monitor (which it wants to enter): there is none.
  __u64 anchor_sp, anchor_pc, anchor_fp, thread_state, continuation, stack_base, pending_monitor;
  // Addresses of the two counters that are the epoch of class unloading; 0: there are none.
  __u64 unloaded, unloaded_shared;
  struct VirtualThreads virtual_threads;
};

// A function of the kernel's: return addresses into it lie in (begin, end]. Both 0: not known where.
struct KernelFunction {
  __u64 begin, end;
};

// How the kernel tells in what context it runs, and who somebody is: for whoever looks for wakers.
struct WakeContext {
  __u32 wanted;  // 0: nobody asks who woke a thread
  // Where the kernel counts how deep it is in interrupts: in the task that runs, or in memory of each CPU's own.
  __u32 place;  // an InterruptCount
  // Offset in the task, or address of the variable, to which the CPU's offset is added, or distance from the CPU's run
  // queue.
  __u64 count;
  __u64 cpu_offsets;  // address of these offsets, by CPU
  __u64 task_queue;   // offset in a task: of its queue among those of its group
  __u64 queue_cpu;    // offset in that one: of the run queue of its CPU
  __u64 task_leader;  // offset in a task: of the first thread of its process; 0: not known
  __u64 task_name;    // and of its name
  // A thread that has sent something to this very machine delivers it itself, in what counts as an interrupt.
  struct KernelFunction delivers;      // net_rx_action
  struct KernelFunction lets_deliver;  // __local_bh_enable_ip
  struct KernelFunction ends_interrupt[2];
};
enum InterruptCount { kCountUnknown, kCountInTask, kCountOfCpu, kCountBesideQueue };

// Read-only for the program and, once it is loaded, for everybody: whoever gets hold of the maps' descriptors can't
// turn it on another process.
struct Settings {
  // The process: its id as its own pid namespace has it, and that namespace.
  __u64 namespace_device, namespace_inode;
  __u32 process;
  __u32 task_registers;  // the kernel tells the user's registers also when the tick hits in the kernel
  __u64 ring_bytes, max_deep_stack;
  struct JavaLayout java;
  // Of the programs that find waits: how long a wait has to be and may be for an event of its own (0 for max: as long
  // as it likes).
  __u64 min_wait_ns, max_wait_ns;
  // Of a program that was lent (linux/borrower.h): where the kernel's task_struct has what struct Identity holds.
  __u64 task_leader, leader_start, task_executed;
  __u32 executed_bytes;  // 0: it was not lent, and the process's id suffices
  __u32 hide_kernel;     // the process may not see the kernel's addresses
  struct WakeContext wakes;
  // Where the kernel, among the registers of a thread, has the number of the system call that it is in; -1: in none.
  __u32 system_call, system_call_bytes;  // 0 bytes: not known
  __u32 hide_processes;                  // the process may not see which others there are
  __u32 task_delay;                      // offset in a task: ns in the run queue, of all its life; 0: not known
  __u64 task_runtime;                    // offset in a task: what its CPU clock says while it sleeps; 0: not known
};

// What a process is, besides its id, until it executes another program.
struct Identity {
  __u64 start;     // when it was started; 0: not known
  __u64 executed;  // how many programs it and its ancestors have executed
  __u64 check;     // check_of() the others: half of one that is just being written is not taken for one
};
enum {
  kSeen = 0,     // the process's, as long as none is trusted
  kTrusted = 1,  // only that one's process is sampled
  kIdentities
};
static inline __u64 check_of(const struct Identity* identity) {
  return (identity->start * 0x9e3779b97f4a7c15UL + identity->executed) * 0xbf58476d1ce4e5b9UL;
}

// By thread id, as the process's own pid namespace has it.
struct Thread {
  __u64 java_thread;
  __u64 named_virtual_id;  // the virtual thread on it whose name was copied last
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

// Above which address a thread's stack has no Java frames: the memory of a capture::JavaBottoms.
struct Bottoms {
  __u64 entries[kBottoms];
};

// What the agent tells the programs while they work.
struct Told {
  struct Bottoms bottoms;
  __u64 awake;     // 0: nothing is copied or counted
  __u64 left_out;  // of kAllWaits: those that are only counted, by chance
};

struct SampleHeader {
  __u64 time_ns, weight_ns;
  __u32 thread;
  __u16 kernel_count;
  __u16 flags;
};
enum {
  // `thread` is the thread's id: it is not known, yet perhaps, since it is about to start. The fragment is empty.
  kUnknownThread = 1 << 8,
};

struct Fragment {
  __u64 pc, sp, fp;
  __u64 general[kGeneralRegisters];
  __u64 anchor_sp, anchor_pc, anchor_fp;
  __u64 continuation;
  __u32 thread_state, stack_bytes;
  __u64 epoch;
  __u64 virtual_id;
  __u32 frozen_bytes;
  __u16 name_bytes;
  __u8 name_is_utf16, frozen_cut;
  __u8 cut;
  __u8 unused[7];
};

struct FrozenPart {
  __u64 begin;
  __u32 bytes;
  __u8 cut;
  __u8 unused;
  __u16 below;
};

// Where a CPU puts together the sample of a virtual thread, whose pieces have any size: a reservation in the ring must
// have a constant one.
enum {
  kRecordHead = sizeof(struct SampleHeader) + kMaxKernelFrames * sizeof(__u64) + sizeof(struct Fragment),
  kFrozenRoom = kMaxFrozen + 64 * sizeof(struct FrozenPart),
  // The verifier does not see that the last piece is only as large as what is left.
  kScratchRecord = kRecordHead + kMaxStack + kFrozenRoom + kMaxFrozen,
};
struct Scratch {
  __u64 at;  // how much of the record there is
  __u8 chunk_head[2 * kMaxChunkHead];
  __u8 record[kScratchRecord];
};

#ifdef __cplusplus
}  // namespace tarsier::linux::bpf
#endif
