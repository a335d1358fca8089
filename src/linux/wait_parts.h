// The eBPF programs that find waits, on the tracepoints sched_switch, sched_waking and sys_exit, and their maps, as
// descriptors. Making them takes rights (CAP_BPF, CAP_PERFMON); using them takes none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "linux/bpf/waits_layout.h"

namespace tarsier::linux {

struct WaitParts {
  unique_fd threads, tasks, ring, counters;  // maps
  std::vector<unique_fd> attached;           // to the tracepoints, for as long as these are open
};

// The object files; empty if they were left out of this build.
std::span<const uint8_t> wait_switch_program() noexcept;
std::span<const uint8_t> wait_waking_program() noexcept;
std::span<const uint8_t> wait_return_program() noexcept;

// `settings.thread` is aimed at the process (kernel_parts.h). From now on its threads are watched that are in the map.
Result<WaitParts> make_wait_parts(const bpf::WaitSettings& settings, size_t ring_bytes);

}  // namespace tarsier::linux
