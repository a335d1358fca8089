#include <string>

#include "doctor/checks.h"

namespace tarsier::doctor {
namespace {

constexpr Bytes kLittleSpace{int64_t{200} << 20}, kNoSpace{int64_t{10} << 20};

Finding kernel(const MachineFacts& machine) {
  const std::string found = "Linux " + machine.kernel + " on " + machine.architecture;
  if (machine.architecture == "aarch64" || machine.architecture == "x86_64") return {"kernel", Grade::kOk, found};
  return {"kernel", Grade::kProblem, found, "the agent is built for aarch64 and x86_64 only"};
}

Finding privileges(const MachineFacts& machine) {
  struct Named {
    int bit;
    const char* name;
  };
  constexpr Named kNamed[] = {{kCapSysPtrace, "CAP_SYS_PTRACE"},
                              {kCapSysAdmin, "CAP_SYS_ADMIN"},
                              {kCapPerfmon, "CAP_PERFMON"},
                              {kCapBpf, "CAP_BPF"}};
  std::string held;
  for (const Named& one : kNamed) {
    if (has_capability(machine.own.capabilities, one.bit)) held.append(held.empty() ? "" : ", ").append(one.name);
  }
  const std::string found = "user " + machine.user_name + (held.empty() ? ", no capabilities" : ", " + held);
  if (machine.user == 0) return {"privileges", Grade::kOk, found};
  return {"privileges", Grade::kOk, found, "your own JVMs can be recorded; those of others need sudo"};
}

Finding container(const MachineFacts& machine) {
  if (machine.container.empty()) return {"container", Grade::kOk, "none"};
  return {"container", Grade::kNote, machine.container,
          "only the JVMs of this container are seen, and its settings decide about perf",
          "run tarsier on the host: it can record JVMs in containers"};
}

Finding seccomp(const MachineFacts& machine) {
  if (machine.own.seccomp == 0) return {"seccomp", Grade::kOk, "no filter of system calls"};
  return {"seccomp", Grade::kNote, "a filter of system calls is in force here",
          machine.answers.perf_user == 0 ? "perf is allowed all the same" : "it may be what forbids perf"};
}

std::string amount(uint64_t value) {
  return value == kUnlimited ? "any number of" : std::to_string(value);
}

Finding limits(const MachineFacts& machine) {
  const ResourceLimits& limits = machine.limits;
  std::string found =
      amount(limits.descriptors) + " descriptors, " + amount(limits.pending_signals) + " pending signals, " +
      (limits.locked_bytes == kUnlimited ? "any" : std::to_string(limits.locked_bytes >> 10) + " KB of") +
      " locked memory";
  if (limits.descriptors >= 1024 && limits.pending_signals >= 1024) return {"limits", Grade::kOk, std::move(found)};
  return {
      "limits", Grade::kNote, std::move(found),
      "a JVM started from here gets these: perf takes a descriptor per thread, an eighth of them at most, CPU timers "
      "a pending signal, half of them at most; clock timekeeper keeps the threads beyond that",
      "ulimit -n 65536; ulimit -i 65536    (in the shell that starts the JVM)"};
}

Finding disk(const MachineFacts& machine) {
  const std::string found = std::to_string(machine.folder_free.count >> 20) + " MB free in " + machine.folder;
  if (!machine.folder_writable) {
    return {"disk", Grade::kProblem, "no right to write into " + machine.folder, "a recording can't be made here",
            "tarsier record -o /var/tmp/x.jfr ..."};
  }
  if (machine.folder_free < kNoSpace) {
    return {"disk", Grade::kProblem, found, "a recording has no room here", "tarsier record -o FOLDER/x.jfr ..."};
  }
  if (machine.folder_free < kLittleSpace) {
    return {"disk", Grade::kNote, found, "a busy server fills some MB a minute", "tarsier record -o FOLDER/x.jfr ..."};
  }
  return {"disk", Grade::kOk, found};
}

constexpr MachineCheck kChecks[] = {kernel, privileges, container, seccomp, limits, disk};

}  // namespace

std::span<const MachineCheck> system_checks() {
  return kChecks;
}

}  // namespace tarsier::doctor
