// What can be found out about the machine, as data: the checks judge it, and tests make up their own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/units.h"
#include "doctor/places.h"
#include "doctor/status_file.h"

namespace tarsier::doctor {

// Answers of the kernel to being asked: 0 or errno.
struct KernelAnswers {
  int perf_user = 0, perf_kernel = 0, perf_cycles = 0;
  int cpu_timer = 0;
  int bpf = 0;
  Nanos tick{};              // what CPU timers are rounded up to
  Nanos timer_resolution{};  // of the high-resolution timers; the tick where there are none
};
KernelAnswers ask_kernel();

enum class Tracefs { kNotMounted, kNotReadable, kReadable };

struct MachineFacts {
  std::string kernel, architecture;
  uint32_t user = 0;
  std::string user_name;
  int64_t cpus = 1, page_bytes = 4096;
  KernelAnswers answers;
  std::optional<int64_t> perf_paranoid, perf_mlock_kb;  // nothing: the kernel has no such setting
  std::optional<int64_t> ptrace_scope, unprivileged_bpf_disabled;
  bool kernel_names = false;  // /proc/kallsyms shows addresses
  bool btf = false;
  bool ebpf_built_in = false;  // into the agent
  Tracefs tracefs = Tracefs::kNotMounted;
  ProcessState own;
  ResourceLimits limits;
  std::string container;  // what says that we are in one; empty: nothing does
  std::string folder;     // as an absolute path
  bool folder_writable = false;
  Bytes folder_free{};
};

MachineFacts gather_machine(const Places& places, const KernelAnswers& answers);

}  // namespace tarsier::doctor
