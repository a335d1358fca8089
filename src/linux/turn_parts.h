// The eBPF program that follows which thread of a process is on which CPU, on the tracepoint sched_switch, and its
// maps, as descriptors. Making them takes rights (CAP_BPF, CAP_PERFMON); using them takes none, so that one process can
// make them for another (turn_loan.h).
#pragma once

#include <cstdint>
#include <span>

#include "base/result.h"
#include "base/unique_fd.h"
#include "linux/bpf/turns_layout.h"

namespace tarsier::linux {

struct TurnParts {
  unique_fd turns, cpus;  // maps
  // Who has borrowed the others does not have these.
  unique_fd identities;
  unique_fd attached;  // to the tracepoint, for as long as it is open
};

// The object file; empty if it was left out of this build.
std::span<const uint8_t> turns_program() noexcept;

// `settings` are aimed at the process (kernel_parts.h).
Result<TurnParts> make_turn_parts(const bpf::Settings& settings);

}  // namespace tarsier::linux
