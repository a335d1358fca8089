// Asks the kernel by trying: settings tell what should be allowed, only the call itself tells what is (security
// modules, seccomp filters and containers have their own word). Each returns 0 or errno, and leaves nothing behind.
#pragma once

namespace tarsier::linux {

enum class PerfEvent {
  kUserTime,       // the CPU clock, user mode only: what sampling needs at least
  kUserAndKernel,  // the CPU clock with kernel frames
  kCycles,         // a counter of the processor itself
};
int try_perf_event(PerfEvent event);
int try_cpu_timer();
// A program of two instructions, of the kind that tracepoints take.
int try_bpf();

}  // namespace tarsier::linux
