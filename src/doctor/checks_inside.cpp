#include <string>

#include "doctor/checks.h"
#include "linux/wait_parts.h"

namespace tarsier::doctor {
namespace {

Finding symbols(const JvmFacts& facts, const MachineFacts&) {
  if (!facts.library) return unknown("symbols", facts.library_unknown, as_root(facts));
  const LibraryFacts& library = *facts.library;
  if (!library.has_async_get_call_trace) {
    return {"symbols", Grade::kProblem, "libjvm.so does not export AsyncGetCallTrace", "its stacks can't be walked"};
  }
  const std::string table = library.has_symtab ? "a full symbol table" : "exported symbols only";
  if (!library.has_vm_structs) {
    return {"symbols", Grade::kNote, "AsyncGetCallTrace; no vmStructs; " + table,
            "compiled code can't be looked at: more samples stay without a stack"};
  }
  return {"symbols", Grade::kOk, "AsyncGetCallTrace, vmStructs; " + table,
          library.has_symtab ? ""
                             : "native frames inside of the JVM have no names; Java frames do not need them; --lock "
                               "finds what it hooks by other ways (docs/locks.md)"};
}

Finding usdt(const JvmFacts& facts, const MachineFacts&) {
  if (!facts.library) return unknown("usdt", facts.library_unknown, as_root(facts));
  if (facts.library->usdt_probes > 0) {
    return {"usdt", Grade::kOk, std::to_string(facts.library->usdt_probes) + " probes in libjvm.so"};
  }
  return {"usdt", Grade::kNote, "no probes in libjvm.so (built without --enable-dtrace)",
          "no engine of this version needs it; --lock would use it if there were no symbols"};
}

bool is_on(const JvmFacts& facts, std::string_view name) {
  const auto found = facts.flags.find(name);
  return found != facts.flags.end() && found->second;
}

Finding debug_info(const JvmFacts& facts, const MachineFacts&) {
  if (is_on(facts, "DebugNonSafepoints")) return {"debug-info", Grade::kOk, "DebugNonSafepoints is on"};
  const std::string source = facts.flags_unknown.empty() ? "" : " (by its command line: " + facts.flags_unknown + ")";
  return {"debug-info", Grade::kNote, "DebugNonSafepoints is off" + source,
          "in code compiled before we attach the method is right, but the inlined callee and the line may not be; code "
          "compiled later is precise",
          "start it with -XX:+UnlockDiagnosticVMOptions -XX:+DebugNonSafepoints"};
}

Finding perf_data(const JvmFacts& facts, const MachineFacts&) {
  const auto flag = facts.flags.find("UsePerfData");
  if (flag == facts.flags.end() || flag->second) return {"perf-data", Grade::kOk, "shared (UsePerfData)"};
  return {
      "perf-data", Grade::kNote, "-XX:-UsePerfData",
      "its main class and flags are known from its command line only; recordings have no safepoints and no causes of "
      "collections"};
}

// The agent lives by the JVM's limits, not by ours, and takes no more than a part of them.
Finding limits(const JvmFacts& facts, const MachineFacts& machine) {
  if (!facts.limits || !facts.state) return unknown("jvm-limits", "no right to see them", as_root(facts));
  const auto amount = [](uint64_t value) { return value == kUnlimited ? "any number of" : std::to_string(value); };
  const auto threads = static_cast<uint64_t>(facts.state->threads);
  const std::string found = amount(facts.limits->descriptors) + " descriptors, " +
                            amount(facts.limits->pending_signals) + " pending signals, " + std::to_string(threads) +
                            " threads";
  const bool perf = machine.answers.perf_user == 0;
  const uint64_t room = perf ? facts.limits->descriptors / 8 : facts.limits->pending_signals / 2;
  if (room > threads) return {"jvm-limits", Grade::kOk, found};
  return {"jvm-limits", Grade::kNote, found,
          std::string(perf ? "perf" : "CPU timers") + " for " + std::to_string(room) +
              " threads; clock timekeeper keeps further ones" + (perf ? ", without kernel frames" : ""),
          "sudo prlimit --pid " + std::to_string(facts.jvm.pid) +
              (perf ? " --nofile=65536:65536" : " --sigpending=65536:65536")};
}

Finding perf_inside(const JvmFacts& facts, const MachineFacts& machine) {
  if (!facts.state) return unknown("jvm-perf", "no right to see its state", as_root(facts));
  if (facts.state->seccomp != 0) {
    return {"jvm-perf", Grade::kNote, "the JVM runs under a filter of system calls (seccomp)",
            "if it forbids perf_event_open, clock cputimer takes its place, or timekeeper for finer intervals",
            "start its container with: --cap-add PERFMON --security-opt seccomp=PROFILE (one that allows "
            "perf_event_open)"};
  }
  const bool privileged =
      has_capability(facts.state->capabilities, kCapPerfmon) || has_capability(facts.state->capabilities, kCapSysAdmin);
  const int64_t paranoid = machine.perf_paranoid.value_or(4);
  if (privileged || paranoid <= 1) return {"jvm-perf", Grade::kOk, "nothing forbids perf to the JVM"};
  if (paranoid == 2) {
    return {"jvm-perf", Grade::kNote, "the JVM has no CAP_PERFMON, and kernel.perf_event_paranoid=2",
            "clock perf; time in the kernel is not sampled", "sudo sysctl kernel.perf_event_paranoid=1"};
  }
  return {"jvm-perf", Grade::kNote, "the JVM may not use perf",
          "clock cputimer takes its place, or timekeeper for finer intervals",
          machine.perf_paranoid ? "sudo sysctl kernel.perf_event_paranoid=1" : ""};
}

// They are opened in the JVM, by its own rights: those of the command are no help.
Finding counters_inside(const JvmFacts& facts, const MachineFacts& machine) {
  if (!facts.state) return unknown("jvm-counters", "no right to see its state", as_root(facts));
  if (facts.state->seccomp != 0) {
    return {"jvm-counters", Grade::kNote, "the JVM runs under a filter of system calls (seccomp)",
            "if it forbids perf_event_open, --counters is not available",
            "start its container with: --cap-add PERFMON --security-opt seccomp=PROFILE (one that allows "
            "perf_event_open)"};
  }
  const uint64_t held = facts.state->capabilities;
  const int64_t paranoid = machine.perf_paranoid.value_or(4);
  if (has_capability(held, kCapPerfmon) || has_capability(held, kCapSysAdmin) || paranoid <= 1) {
    return {"jvm-counters", Grade::kOk, "nothing forbids --counters to the JVM"};
  }
  const std::string found = "the JVM has no CAP_PERFMON, and kernel.perf_event_paranoid=" + std::to_string(paranoid);
  if (!machine.perf_paranoid) return {"jvm-counters", Grade::kNote, "this kernel has no perf events"};
  return {"jvm-counters", Grade::kNote, found,
          paranoid == 2 ? "--counters leaves out context-switches, migrations and tracepoints, whoever records"
                        : "--counters is not available, whoever records",
          "sudo sysctl kernel.perf_event_paranoid=1"};
}

bool may_load_ebpf(const ProcessState& state) {
  return has_capability(state.capabilities, kCapSysAdmin) ||
         (has_capability(state.capabilities, kCapBpf) && has_capability(state.capabilities, kCapPerfmon));
}

Finding waits_inside(const JvmFacts& facts, const MachineFacts& machine) {
  constexpr const char* kByWatcher = "--waits works without; who ended a wait is not known";
  if (!facts.state) return unknown("jvm-waits", "no right to see its state", as_root(facts));
  const bool possible = machine.ebpf_built_in && linux::kernel_finds_waits(machine.kernel);
  if (!possible) return {"jvm-waits", Grade::kNote, "--waits-by ebpf is not available here", kByWatcher};
  if (facts.state->seccomp != 0) {
    return {"jvm-waits", Grade::kNote, "the JVM runs under a filter of system calls (seccomp)",
            std::string("if it forbids bpf, --waits-by ebpf is not available; ") + kByWatcher,
            "start its container with: --security-opt seccomp=PROFILE (one that allows bpf)"};
  }
  if (may_load_ebpf(*facts.state))
    return {"jvm-waits", Grade::kOk, "the JVM has the rights that --waits-by ebpf needs"};
  if (machine.answers.bpf == 0) {
    return {"jvm-waits", Grade::kOk,
            "the JVM has no CAP_BPF and CAP_PERFMON; you have, and record --waits-by ebpf lends it what it needs"};
  }
  return {"jvm-waits", Grade::kNote, "neither the JVM nor you have CAP_BPF and CAP_PERFMON", kByWatcher,
          "sudo tarsier record --waits --waits-by ebpf " + std::to_string(facts.jvm.pid)};
}

// The agent, inside, loads the program, or else the command does it for it.
Finding ebpf_inside(const JvmFacts& facts, const MachineFacts& machine) {
  if (!facts.state) return unknown("jvm-ebpf", "no right to see its state", as_root(facts));
  if (may_load_ebpf(*facts.state)) {
    return {"jvm-ebpf", Grade::kOk, "the JVM has the rights that --clock ebpf needs"};
  }
  if (machine.ebpf_built_in && machine.btf && machine.answers.bpf == 0) {
    return {"jvm-ebpf", Grade::kOk,
            "the JVM has no CAP_BPF and CAP_PERFMON; you have, and record lends it what it needs"};
  }
  return {"jvm-ebpf", Grade::kNote, "the JVM has no CAP_BPF and CAP_PERFMON",
          "--clock ebpf is not available; no other clock needs it",
          "record as root, or start it with: setpriv --reuid USER --init-groups --inh-caps +bpf,+perfmon "
          "--ambient-caps +bpf,+perfmon java"};
}

constexpr JvmCheck kChecks[] = {symbols,         usdt,        debug_info,  perf_data, limits, perf_inside,
                                counters_inside, ebpf_inside, waits_inside};

}  // namespace

std::span<const JvmCheck> inside_checks() {
  return kChecks;
}

}  // namespace tarsier::doctor
