#include <string>

#include "base/result.h"
#include "doctor/checks.h"
#include "linux/wait_parts.h"

namespace tarsier::doctor {
namespace {

constexpr const char* kNotNeeded = "only --counters with tracepoints (GROUP:NAME) needs it";

Finding tracefs(const MachineFacts& machine) {
  switch (machine.tracefs) {
    case Tracefs::kReadable:
      return {"tracefs", Grade::kOk, "mounted and readable"};
    case Tracefs::kNotReadable:
      return {"tracefs", Grade::kNote, "mounted, but not readable for user " + machine.user_name, kNotNeeded,
              "sudo mount -o remount,mode=755 /sys/kernel/tracing"};
    case Tracefs::kNotMounted:
      break;
  }
  return {"tracefs", Grade::kNote, "not mounted", kNotNeeded, "sudo mount -t tracefs tracefs /sys/kernel/tracing"};
}

Finding ebpf(const MachineFacts& machine) {
  const std::string types = machine.btf ? "the kernel's types (BTF) are there" : "the kernel has no types (BTF)";
  const std::string setting = machine.unprivileged_bpf_disabled ? ", kernel.unprivileged_bpf_disabled=" +
                                                                      std::to_string(*machine.unprivileged_bpf_disabled)
                                                                : "";
  constexpr const char* kNoClock = "--clock ebpf is not available; no other clock needs it";
  if (!machine.ebpf_built_in) {
    return {"ebpf", Grade::kNote, "this tarsier was built without it", kNoClock,
            "build it where clang is installed (script/bootstrap does that)"};
  }
  if (machine.answers.bpf == 0 && machine.btf) {
    return {"ebpf", Grade::kOk, "programs can be loaded, " + types + setting,
            "--engine fragment --clock ebpf, from 10us"};
  }
  if (machine.answers.bpf == 0) {
    return {"ebpf", Grade::kNote, "programs can be loaded, but " + types,
            "--engine fragment --clock ebpf does not sample time in the kernel"};
  }
  return {"ebpf", Grade::kNote, "programs can't be loaded: " + errno_text(machine.answers.bpf) + "; " + types + setting,
          kNoClock, "run it, or the JVM, as root or with CAP_BPF and CAP_PERFMON"};
}

// Every wait and who ended it. A JVM whose user may not load the programs borrows them from whoever records it.
Finding waits(const MachineFacts& machine) {
  constexpr const char* kByWatcher =
      "--waits works without: a thread of ours looks at those that sleep; who ended a wait is not known";
  if (!machine.ebpf_built_in) {
    return {"waits", Grade::kNote, "this tarsier was built without eBPF", kByWatcher,
            "build it where clang is installed (script/bootstrap does that)"};
  }
  if (!linux::kernel_finds_waits(machine.kernel)) {
    return {"waits", Grade::kNote, "Linux " + machine.kernel + ": too old for --waits-by ebpf (6.1 or later)",
            kByWatcher};
  }
  if (machine.answers.bpf != 0) {
    return {"waits", Grade::kNote, "eBPF programs can't be loaded: " + errno_text(machine.answers.bpf), kByWatcher,
            "sudo tarsier record --waits --waits-by ebpf PID    (the JVM's user needs no right)"};
  }
  constexpr const char* kExact = "--waits-by ebpf: every wait with its exact length, and who ended it";
  if (!machine.btf || !machine.kernel_names) {
    return {"waits", Grade::kNote,
            std::string("eBPF programs can be loaded, but ") +
                (machine.btf ? "/proc/kallsyms shows no addresses" : "the kernel has no types (BTF)"),
            std::string(kExact) + "; of some waits that is not known",
            machine.btf ? "sudo sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1    (or CAP_SYSLOG)" : ""};
  }
  return {"waits", Grade::kOk, "eBPF programs can be loaded", kExact};
}

Finding ptrace(const MachineFacts& machine) {
  const int64_t scope = machine.ptrace_scope.value_or(0);
  const std::string found =
      machine.ptrace_scope ? "kernel.yama.ptrace_scope=" + std::to_string(scope) : "not restricted (no Yama)";
  if (scope == 0 || has_capability(machine.own.capabilities, kCapSysPtrace)) {
    return {"ptrace", Grade::kOk, found, "doctor reads a JVM's flags from its memory"};
  }
  return {"ptrace", Grade::kNote, found,
          "doctor can't read a JVM's flags from its memory, only from its command line; recording does not need it",
          "sudo tarsier doctor PID"};
}

constexpr MachineCheck kChecks[] = {tracefs, ebpf, waits, ptrace};

}  // namespace

std::span<const MachineCheck> tracing_checks() {
  return kChecks;
}

}  // namespace tarsier::doctor
