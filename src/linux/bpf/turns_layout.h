// What the eBPF program that follows who is on which CPU and the agent agree on.
#pragma once

#include <linux/types.h>

#include "linux/bpf/fragment_layout.h"

#ifdef __cplusplus
namespace tarsier::linux::bpf {
#endif

enum { kMaxTurns = 1 << 16 };

// A thread of the process, by its id there, on a CPU.
struct TurnKey {
  __u32 tid, cpu;
};

// One for each CPU that there can be. Only the program on that CPU writes it.
struct CpuTurn {
  __u64 since;    // whoever is on it now has been since then; 0: not known
  __u64 busy;     // ns of all turns that are over, but for the idle task's
  __u64 no_room;  // ns of turns of the process for which there was no entry
  __u32 tid;      // whose turn it is, if it is known to be the process's
  __u32 idle;     // it is nobody's
};

#ifdef __cplusplus
}  // namespace tarsier::linux::bpf
#endif
