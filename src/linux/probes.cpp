#include "linux/probes.h"

#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "base/unique_fd.h"
#include "linux/perf_open.h"
#include "linux/syscall_filter.h"

namespace tarsier::linux {

int try_perf_event(PerfEvent event) {
  perf_event_attr attr;
  std::memset(&attr, 0, sizeof(attr));
  attr.size = sizeof(attr);
  attr.type = event == PerfEvent::kCycles ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE;
  attr.config = event == PerfEvent::kCycles ? uint64_t{PERF_COUNT_HW_CPU_CYCLES} : uint64_t{PERF_COUNT_SW_CPU_CLOCK};
  attr.sample_period = 1'000'000'000;
  attr.disabled = 1;
  attr.exclude_hv = 1;
  attr.exclude_kernel = event == PerfEvent::kUserAndKernel ? 0 : 1;
  if (event == PerfEvent::kUserAndKernel) {
    attr.sample_type = PERF_SAMPLE_CALLCHAIN;
    attr.exclude_callchain_user = 1;
  }
  const unique_fd fd(open_perf_event(attr, 0, -1));
  return fd ? 0 : errno;
}

int try_cpu_timer() {
  sigevent event;
  std::memset(&event, 0, sizeof(event));
  event.sigev_notify = SIGEV_NONE;
  timer_t timer{};
  if (::timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) != 0) return errno;
  ::timer_delete(timer);
  return 0;
}

int try_bpf() {
  // r0 = 0; exit
  const bpf_insn program[] = {{BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0}, {BPF_JMP | BPF_EXIT, 0, 0, 0, 0}};
  constexpr char kLicence[] = "Apache-2.0";
  bpf_attr attr;
  std::memset(&attr, 0, sizeof(attr));
  attr.prog_type = BPF_PROG_TYPE_TRACEPOINT;
  attr.insns = reinterpret_cast<uintptr_t>(program);
  attr.insn_cnt = 2;
  attr.license = reinterpret_cast<uintptr_t>(kLicence);
  if (!may_call(DoubtfulCall::kBpf)) return EPERM;
  const unique_fd fd(static_cast<int>(::syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr))));
  return fd ? 0 : errno;
}

}  // namespace tarsier::linux
