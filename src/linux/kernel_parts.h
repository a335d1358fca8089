// All that the kernel path of sampling consists of, as descriptors: the eBPF program of bpf/fragment.bpf.c on the
// clocks of all CPUs, and its maps. Making them takes rights (CAP_BPF, CAP_PERFMON); using them takes none, so that one
// process can make them for another. The program keeps to the process that it was made for, whoever holds the
// descriptors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "linux/bpf/fragment_layout.h"
#include "linux/cpu_ticks.h"

namespace tarsier::linux {

struct KernelParts {
  unique_fd threads, bottoms, ring, counters;  // maps
  // Who has borrowed the others does not have these.
  unique_fd periods, identities;
  std::vector<CpuTick> ticks;
  size_t scratch_bytes = 0;   // that the maps take of the kernel's memory besides the ring
  bool sees_kernel = true;    // false: ticks that hit in the kernel are dropped, as `registers unreadable`
  bool hides_kernel = false;  // samples have no frames of the kernel's
};

// The object file; empty if it was left out of this build.
std::span<const uint8_t> fragment_program() noexcept;

// Sets which process it is that the program samples; `process` is its folder in /proc.
Status aim_at(bpf::Settings& settings, const std::string& process);

struct KernelPartsOptions {
  size_t ring_bytes = 0;    // a power of two, of whole pages
  bool old_kernel = false;  // for tests: do as on Linux before 5.15
};
Result<KernelParts> make_kernel_parts(bpf::Settings settings, const KernelPartsOptions& options);

}  // namespace tarsier::linux
