// What the eBPF programs that find waits and the agent agree on. The records in their ring are those of
// fragment_layout.h.
#pragma once

#include "linux/bpf/fragment_layout.h"

#ifdef __cplusplus
namespace tarsier::linux::bpf {
#endif

// Of SampleHeader::flags; a test proves that they are those of the header that handlers write.
enum {
  kFlagWaits = 1 << 0,
  kFlagKept = 1 << 2,
  kFlagBlocked = 1 << 3,
  kFlagOngoing = 1 << 4,
  kFlagUninterruptible = 1 << 6,
  kFlagPageFault = 1 << 7,
};

// A thread that goes to sleep leaves a copy of its stack, in the form of a record for the ring: whether the wait will
// be long enough for an event is not known before it is over, and then the thread's memory is not at hand, unless it is
// a thread of the same process that ends it. The agent gives every thread a place for it, and a larger one if it proves
// too small.
enum {
  kWaitHead = sizeof(struct SampleHeader) + sizeof(struct Fragment),
  kSmallCopy = 2 << 10,
  kMiddleCopy = 8 << 10,
  kLargeCopy = 40 << 10,
};
// At its waker: nothing was copied. Whoever wakes it will be a thread of the same process, and copies it then.
enum CopyPlace { kNowhere, kSmall, kMiddle, kLarge, kAtWaker };
struct SmallCopy {
  __u8 record[kSmallCopy];
};
struct MiddleCopy {
  __u8 record[kMiddleCopy];
};
struct LargeCopy {
  __u8 record[kLargeCopy];
};

struct TimeSum {
  __u64 ns, count;
};

// In a slot that the agent has chosen; which one that is, it tells by the thread's id, as the process's own pid
// namespace has it. Once it is there only the programs write it.
//
// By lines of the cache, since it goes from CPU to CPU: the first is all that whoever wakes a thread has to look at,
// and with the second all that a switch does as a rule.
struct WaitingThread {
  __u32 serial;
  __u8 asleep;          // if it is off its CPU: it waits; else it was preempted
  __u8 copy;            // a CopyPlace: where the stack is of which it sleeps
  __u8 copy_failure;    // if there is no copy: one of the drops below
  __u8 booked;          // its waker has put the wait into the sums
  __u64 since;          // off its CPU since then; 0: it is on one, or has not been seen yet
  __u64 woken;          // and was woken then; 0: not yet, or nobody has looked
  __u64 running_since;  // on its CPU since then; 0: not known, it was there before us
  // A wait that was left out is booked when the thread leaves its CPU the next time: by then the kernel's own account
  // tells how much of the time was spent in the run queue, and nobody needs to look when it is woken.
  __u64 unbooked;      // so long was it off its CPU; 0: there is no such wait
  __u64 delay;         // what that account said when it left
  __u32 copy_flags;    // of SampleHeader: what is known of the wait
  __u8 known;          // its task is in `tasks`. Which one that is, is the kernel's own business
  __u8 copies_itself;  // it was once woken by a stranger, who could not copy its stack
  __u8 has_left;       // a CPU, and we have seen it
  __u8 unused_byte;
  __u64 unused_word;  // the line is full

  __u64 ran;    // on its CPU, between two moments that we have seen
  __u64 queue;  // ns in the run queue
  struct TimeSum shorter, missed, written;

  struct TimeSum longer;
  __u64 java_thread;
  __u64 named_virtual_id;  // the virtual thread on it whose name was written last
  __u64 runtime;           // if its copy was left to the waker: what its CPU clock said when it went to sleep
  __u64 first_left;        // left a CPU for the first time that we have seen
  __u32 copy_bytes;
  __u32 unused[3];
};

// Who has woken a thread: a record of its own in the ring, before that of the wait. Of a Java thread with its stack, if
// that could be read: then a record like that of a wait follows, of the waker.
enum WokenBy { kByUnknown, kByThread, kByJvm, kByProcess, kByInterrupt };
enum {
  kWakerName = 16,
};
// No wait begins then: the two kinds of records are told apart by their first word.
#define kWakerMark 0xffffffffffffffffUL
struct Waker {
  __u64 mark;
  __u64 since;   // when the wait began
  __u32 woken;   // serial number of the thread that waited
  __u32 by;      // a WokenBy
  __u32 thread;  // serial number of the waker; 0: it has none
  __u32 id;      // by kByThread and kByJvm its thread id, by kByProcess its process's, as the machine counts them
  char name[kWakerName];  // of that thread or process
};
enum { kWakerHead = sizeof(struct Waker) + kWaitHead };

// How the programs get from one of the kernel's tasks to a thread's slot at a glance: by a place that the task's
// address leads to, and which the last one has who came by. Hash tables take several times as long, and that at every
// switch.
enum { kSeatBits = 13, kSeats = 1 << kSeatBits };
struct Seat {
  __u64 stranger;   // a task of another process
  __u64 key;        // of a task and the thread that is in the slot
  __u64 unwatched;  // a task that sleeps, of ours: nobody wants to know who wakes it, nor when
  __u32 slot;
  __u32 stranger_process;  // as the machine counts them
};
// And by a hash table, if another task has taken the place.
struct Seated {
  __u32 slot, serial;
};

struct KernelFrames {
  __u64 addresses[kMaxKernelFrames];
};

enum WaitDrop {
  kDropRingFull,
  kDropThreadUnreadable,
  kDropStackUnreadable,
  kDropNoPlace,
  kDropEndUnseen,
  kDropBeginUnseen,  // or it lost its CPU otherwise
  kDropStranger,     // a stranger has ended what was left to the waker
  kDropLeftOut,      // to keep the cost down
  kWaitDrops
};

// One for each CPU. What is dropped is among taken.
struct WaitCounters {
  __u64 taken;
  __u64 dropped[kWaitDrops];
  __u64 lost_wakers;           // for which there was no room in the ring
  __u64 wakers_without_stack;  // since it can't be read
  __u64 ns;                    // time in the programs, where they found one of ours: of every 17th run, 17 times
  __u64 runs;                  // since the last one of those
  __u64 stacks_ns;             // of that: for stacks, and what else there is of a wait that is worth an event
};

#ifdef __cplusplus
}  // namespace tarsier::linux::bpf
#endif
