#include <cerrno>
#include <string>

#include "base/parse.h"
#include "base/result.h"
#include "doctor/checks.h"

namespace tarsier::doctor {
namespace {

std::string paranoid(const MachineFacts& machine) {
  return machine.perf_paranoid ? "kernel.perf_event_paranoid=" + std::to_string(*machine.perf_paranoid)
                               : "this kernel has no perf events";
}

// Who says no to perf_event_open: the setting, a filter in front of it, or the kernel as it was built.
std::string perf_fix(const MachineFacts& machine) {
  if (!machine.perf_paranoid) return "";
  if (*machine.perf_paranoid > 2) return "sudo sysctl kernel.perf_event_paranoid=1";
  if (machine.own.seccomp != 0 || !machine.container.empty()) {
    return "start the container with: --cap-add PERFMON --security-opt seccomp=PROFILE (one that allows "
           "perf_event_open)";
  }
  return "sudo sysctl kernel.perf_event_paranoid=1";
}

Finding perf(const MachineFacts& machine) {
  const KernelAnswers& answers = machine.answers;
  if (answers.perf_kernel == 0) {
    return {"perf", Grade::kOk, "perf_event_open works, kernel frames included (" + paranoid(machine) + ")",
            "clock perf, from 10us"};
  }
  if (answers.perf_user == 0) {
    return {
        "perf", Grade::kNote,
        "perf_event_open works for user mode only: " + errno_text(answers.perf_kernel) + " (" + paranoid(machine) + ")",
        "clock perf, from 10us; time in the kernel is not sampled", "sudo sysctl kernel.perf_event_paranoid=1"};
  }
  return {"perf", Grade::kNote, "perf_event_open: " + errno_text(answers.perf_user) + " (" + paranoid(machine) + ")",
          "clock perf is not available -> cputimer at " + format_duration(answers.tick) +
              ", or --clock timekeeper for finer intervals; no kernel frames",
          perf_fix(machine)};
}

Finding kernel_names(const MachineFacts& machine) {
  if (machine.kernel_names) return {"kernel-names", Grade::kOk, "/proc/kallsyms shows the kernel's functions"};
  return {"kernel-names", Grade::kNote, "/proc/kallsyms shows no addresses",
          "kernel frames are called [kernel]; a JVM of root's may see more",
          "sudo sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1"};
}

// Kernel frames come through a ring of two pages per thread, which ordinary users have a budget for.
Finding perf_memory(const MachineFacts& machine) {
  if (!machine.perf_mlock_kb) return {"perf-memory", Grade::kOk, "no such setting"};
  const std::string found = "kernel.perf_event_mlock_kb=" + std::to_string(*machine.perf_mlock_kb) + " on " +
                            std::to_string(machine.cpus) + " CPUs";
  if (machine.user == 0 || machine.limits.locked_bytes == kUnlimited) {
    return {"perf-memory", Grade::kOk, found, "not counted for root and where locked memory is unlimited"};
  }
  const int64_t budget =
      *machine.perf_mlock_kb * 1024 * machine.cpus + static_cast<int64_t>(machine.limits.locked_bytes);
  const int64_t threads = budget / (2 * machine.page_bytes);
  const std::string meaning = "kernel frames for about " + std::to_string(threads) + " threads";
  if (threads >= 200) return {"perf-memory", Grade::kOk, found, meaning};
  return {"perf-memory", Grade::kNote, found, meaning + "; further ones are sampled without them",
          "ulimit -l 65536    (in the shell that starts the JVM)"};
}

Finding cpu_timers(const MachineFacts& machine) {
  const std::string tick = format_duration(machine.answers.tick);
  if (machine.answers.cpu_timer != 0) {
    return {"cpu-timers", Grade::kProblem, "timer_create: " + errno_text(machine.answers.cpu_timer),
            "clock cputimer is not available"};
  }
  return {"cpu-timers", Grade::kOk, "work, at the kernel's tick of " + tick, "clock cputimer, from " + tick};
}

Finding fine_timers(const MachineFacts& machine) {
  if (machine.answers.timer_resolution < micros(10)) {
    return {"fine-timers", Grade::kOk, "high-resolution timers", "clocks timekeeper and wall, from 10us"};
  }
  return {"fine-timers", Grade::kNote,
          "no high-resolution timers, but every " + format_duration(machine.answers.timer_resolution),
          "clocks timekeeper and wall are no finer than that"};
}

Finding hardware_counters(const MachineFacts& machine) {
  const int answer = machine.answers.perf_cycles;
  if (answer == 0) return {"hardware-counters", Grade::kOk, "the processor's counters can be read"};
  const bool absent = answer == ENOENT || answer == EOPNOTSUPP || answer == ENODEV;
  return {"hardware-counters", Grade::kNote,
          absent ? "none here (" + errno_text(answer) + "): usual in virtual machines"
                 : "not permitted: " + errno_text(answer),
          "nothing is missing from samples: CPU time is sampled by the kernel's software clock; --counters has no "
          "cycles, instructions and misses"};
}

// What every recording has without is said, too: who reads "not available" shall not think that all is lost.
Finding counters(const MachineFacts& machine) {
  constexpr const char* kAlways =
      "; CPU time, run queue, context switches and page faults of every thread are in every recording without";
  const KernelAnswers& answers = machine.answers;
  if (answers.perf_kernel == 0) return {"counters", Grade::kOk, "perf may count, in the kernel, too", "--counters"};
  if (answers.perf_user == 0) {
    return {"counters", Grade::kNote, "perf may count in user mode only (" + paranoid(machine) + ")",
            std::string("--counters leaves out context-switches, migrations and tracepoints") + kAlways,
            "sudo sysctl kernel.perf_event_paranoid=1"};
  }
  return {"counters", Grade::kNote, "perf may count nothing: " + errno_text(answers.perf_user),
          std::string("--counters is not available") + kAlways, perf_fix(machine)};
}

constexpr MachineCheck kChecks[] = {perf,        kernel_names,      perf_memory, cpu_timers,
                                    fine_timers, hardware_counters, counters};

}  // namespace

std::span<const MachineCheck> sampling_checks() {
  return kChecks;
}

}  // namespace tarsier::doctor
