// The eBPF programs that find waits, on the tracepoints sched_switch and sched_waking, and their maps, as descriptors.
// Making them takes rights (CAP_BPF, CAP_PERFMON); using them takes none, so that one process can make them for another
// (wait_loan.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "linux/bpf/waits_layout.h"

namespace tarsier::linux {

struct WaitParts {
  unique_fd threads, slots, bottoms, ring, counters;  // maps
  // Those in which threads leave copies of their stacks, by size. They take memory by the entry, and are for slots.
  std::array<unique_fd, 3> copies;
  static constexpr size_t kCopyBytes[] = {bpf::kSmallCopy, bpf::kMiddleCopy, bpf::kLargeCopy};
  // Who has borrowed the others does not have these.
  unique_fd identities;
  std::vector<unique_fd> attached;  // to the tracepoints, for as long as these are open
  size_t map_bytes = 0;             // that the maps take of the kernel's memory besides the ring and the copies
};

// The object files; empty if they were left out of this build.
std::span<const uint8_t> wait_switch_program() noexcept;
std::span<const uint8_t> wait_waking_program() noexcept;

// Is a kernel of that release (as uname has it) new enough?
bool kernel_finds_waits(const std::string& release);

struct WaitMemory {
  size_t ring;    // a power of two, of whole pages
  size_t copies;  // of the stacks of threads that sleep: not more than that of any one size
};

// `settings` are aimed at the process (kernel_parts.h). Its threads are watched that are in the map, while a struct
// Told says that the agent is awake.
Result<WaitParts> make_wait_parts(bpf::Settings settings, const WaitMemory& memory);

}  // namespace tarsier::linux
