// The eBPF programs that find waits, on the tracepoints sched_switch and sched_waking, and their maps, as descriptors.
// Making them takes rights (CAP_BPF, CAP_PERFMON); using them takes none.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "linux/bpf/waits_layout.h"

namespace tarsier::linux {

struct WaitParts {
  unique_fd threads, tasks, bottoms, ring, counters;  // maps
  // Those in which threads leave copies of their stacks, by size. They take memory by the entry.
  std::array<unique_fd, 3> copies;
  static constexpr size_t kCopyBytes[] = {bpf::kSmallCopy, bpf::kMiddleCopy, bpf::kLargeCopy};
  std::vector<unique_fd> attached;  // to the tracepoints, for as long as these are open
  size_t map_bytes = 0;             // that the maps take of the kernel's memory besides the ring and the copies
};

// The object files; empty if they were left out of this build.
std::span<const uint8_t> wait_switch_program() noexcept;
std::span<const uint8_t> wait_waking_program() noexcept;

// `settings` are aimed at the process (kernel_parts.h). From now on its threads are watched that are in the map.
Result<WaitParts> make_wait_parts(bpf::Settings settings, size_t ring_bytes);

}  // namespace tarsier::linux
