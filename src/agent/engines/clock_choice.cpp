#include "agent/engines/clock_choice.h"

#include <signal.h>

#include <array>
#include <string_view>

#include "agent/engines/kept_perf_clock.h"
#include "agent/engines/timekeeper.h"
#include "agent/engines/wall_clock.h"
#include "base/parse.h"
#include "capture/cpu_timer_clock.h"
#include "capture/perf_clock.h"
#include "capture/process_timer_clock.h"
#include "linux/cpu_ticks.h"
#include "linux/procfs.h"
#include "linux/syscall_filter.h"

namespace tarsier::agent {
namespace {

using control::kDefaultInterval;

std::string paranoid_text() {
  const auto level = linux::read_number("/proc/sys/kernel/perf_event_paranoid");
  return level ? "kernel.perf_event_paranoid=" + std::to_string(*level) : "perf events are not built into this kernel";
}

Result<ClockChoice> try_perf(const control::SessionOptions& options) {
  const Nanos finest(static_cast<int64_t>(capture::PerfClock::kFinest));
  if (options.interval.count != 0 && options.interval < finest) {
    return Error{Errc::kUsage, "interval " + format_duration(options.interval) + " is finer than the " +
                                   format_duration(finest) + " that perf can do"};
  }
  if (const char* why_not = linux::why_not_call(linux::DoubtfulCall::kPerfEventOpen)) {
    return Error{Errc::kNotPermitted, "perf_event_open: " + std::string(why_not) +
                                          " (a service of systemd needs SystemCallFilter=perf_event_open)"};
  }
  ClockChoice choice;
  choice.name = "perf";
  choice.per_thread = true;
  choice.interval = options.interval.count != 0 ? options.interval : kDefaultInterval;
  choice.kernel = capture::PerfClock::probe(true) == 0;
  if (!choice.kernel) {
    if (const int err = capture::PerfClock::probe(false)) {
      return Error{Errc::kNotPermitted, "perf_event_open: " + errno_text(err) + " (" + paranoid_text() +
                                            "; as root: sysctl kernel.perf_event_paranoid=1, and containers need a "
                                            "seccomp profile that allows perf_event_open)"};
    }
  }
  choice.why = choice.kernel ? "perf cpu-clock works, kernel stacks included"
                             : "perf cpu-clock works for user mode only (" + paranoid_text() + ")";
  if (!choice.kernel) {
    choice.warnings.push_back("time in the kernel is not sampled: " + paranoid_text() +
                              " (as root: sysctl kernel.perf_event_paranoid=1)");
  }
  choice.make = [](const ClockChoice& c, int signal) -> std::unique_ptr<capture::Clock> {
    return std::make_unique<KeptPerfClock>(
        capture::PerfClock::Options{signal, static_cast<uint64_t>(c.interval.count), c.kernel});
  };
  return choice;
}

Result<ClockChoice> try_rings(const control::SessionOptions& options) {
  Result<ClockChoice> choice = try_perf(options);
  if (!choice) return choice;
  choice->name = kRingClock;
  choice->why = "the kernel copies the stacks into rings, and no signal reaches the application; " + choice->why;
  choice->per_thread = false;
  choice->make = nullptr;
  return choice;
}

Result<ClockChoice> try_cpu_timer(const control::SessionOptions& options) {
  const Nanos tick = linux::kernel_tick();
  if (options.interval.count != 0 && options.interval < tick) {
    return Error{Errc::kUsage, "interval " + format_duration(options.interval) +
                                   " is finer than the kernel's tick of " + format_duration(tick) +
                                   ", which CPU timers follow: ask for --interval " + format_duration(tick) +
                                   " or more, or use --clock perf"};
  }
  ClockChoice choice;
  choice.name = "cputimer";
  choice.per_thread = true;
  choice.interval = options.interval.count != 0 ? options.interval : std::max(tick, kDefaultInterval);
  choice.why = "a CPU timer per thread, which ticks with the kernel every " + format_duration(tick);
  if (options.interval.count == 0 && choice.interval > kDefaultInterval) {
    choice.warnings.push_back("the interval is " + format_duration(choice.interval) +
                              ", the kernel's tick: CPU timers can do no better");
  }
  choice.make = [](const ClockChoice& c, int signal) -> std::unique_ptr<capture::Clock> {
    return std::make_unique<capture::CpuTimerClock>(signal, static_cast<uint64_t>(c.interval.count));
  };
  return choice;
}

Result<ClockChoice> try_timekeeper(const control::SessionOptions& options) {
  constexpr Nanos kFinest = micros(10);
  if (options.interval.count != 0 && options.interval < kFinest) {
    return Error{Errc::kUsage,
                 "interval " + format_duration(options.interval) + " is finer than " + format_duration(kFinest)};
  }
  ClockChoice choice;
  choice.name = "timekeeper";
  choice.interval = options.interval.count != 0 ? options.interval : kDefaultInterval;
  choice.why = "a thread of ours reads the CPU clocks of the others and signals those that have run long enough";
  choice.make = [](const ClockChoice& c, int signal) -> std::unique_ptr<capture::Clock> {
    return std::make_unique<Timekeeper>(signal, c.interval);
  };
  return choice;
}

Result<ClockChoice> try_itimer(const control::SessionOptions& options) {
  Result<ClockChoice> choice = try_cpu_timer(options);
  if (!choice) return choice;
  choice->name = "itimer";
  choice->why = "one CPU timer for the whole process: a baseline, which hits threads that are not ours to sample, too";
  choice->fixed_signal = SIGPROF;
  choice->per_thread = false;
  choice->make = [](const ClockChoice& c, int) -> std::unique_ptr<capture::Clock> {
    return std::make_unique<capture::ProcessTimerClock>(ITIMER_PROF, static_cast<uint64_t>(c.interval.count));
  };
  return choice;
}

Result<ClockChoice> try_real(const control::SessionOptions& options) {
  ClockChoice choice;
  choice.name = "real";
  choice.interval = options.interval.count != 0 ? options.interval : kDefaultInterval;
  choice.why = "one real-time timer for the whole process: a baseline, which samples any thread, running or not";
  choice.warnings.emplace_back("samples of the clock 'real' do not tell where CPU time goes");
  choice.fixed_signal = SIGALRM;
  choice.make = [](const ClockChoice& c, int) -> std::unique_ptr<capture::Clock> {
    return std::make_unique<capture::ProcessTimerClock>(ITIMER_REAL, static_cast<uint64_t>(c.interval.count));
  };
  return choice;
}

Result<ClockChoice> try_wall(const control::SessionOptions& options) {
  ClockChoice choice;
  choice.name = "wall";
  choice.event = recording::Event::kWallSample;
  choice.interval = options.interval.count != 0 ? options.interval : millis(10);
  choice.why = "a thread of ours samples every Java thread in turn, waiting ones as well as running ones";
  choice.make = [](const ClockChoice& c, int signal) -> std::unique_ptr<capture::Clock> {
    return std::make_unique<WallClock>(signal, c.interval);
  };
  return choice;
}

Result<ClockChoice> try_ebpf(const control::SessionOptions& options) {
  const Nanos finest(static_cast<int64_t>(linux::CpuTicks::kFinestNs));
  if (options.interval.count != 0 && options.interval < finest) {
    return Error{Errc::kUsage, "interval " + format_duration(options.interval) + " is finer than the " +
                                   format_duration(finest) + " that the kernel's clock can do"};
  }
  ClockChoice choice;
  choice.name = kKernelClock;
  choice.interval = options.interval.count != 0 ? options.interval : kDefaultInterval;
  choice.kernel = true;
  choice.why = "an eBPF program copies the stacks, and no signal reaches the application";
  return choice;
}

struct Candidate {
  std::string_view name;
  Result<ClockChoice> (*try_it)(const control::SessionOptions&);
  bool automatic;  // taken without being asked for
};
// The best first. CPU timers before the timekeeper: they cost no thread, and who asks for no interval gets the tick.
constexpr std::array<Candidate, 8> kClocks = {{{"perf", try_perf, true},
                                               {"cputimer", try_cpu_timer, true},
                                               {"timekeeper", try_timekeeper, true},
                                               {kKernelClock, try_ebpf, false},
                                               {kRingClock, try_rings, false},
                                               {"wall", try_wall, false},
                                               {"itimer", try_itimer, false},
                                               {"real", try_real, false}}};

}  // namespace

std::string_view implied_clock(const control::SessionOptions& options) {
  const bool decodes_fragments = options.engine.empty() || options.engine == "fragment";
  const bool waits_in_kernel = options.waits && options.waits_by != "watcher";
  return options.clock.empty() && waits_in_kernel && decodes_fragments ? kKernelClock : std::string_view();
}

Result<ClockChoice> choose_clock(const control::SessionOptions& options) {
  return choose_clock(options, options.clock);
}

Result<ClockChoice> choose_clock(const control::SessionOptions& options, std::string_view wanted) {
  std::string known, refused;
  Errc code = Errc::kUsage;
  for (const Candidate& candidate : kClocks) {
    known += (known.empty() ? "" : ", ") + std::string(candidate.name);
    if (wanted.empty() ? !candidate.automatic : wanted != candidate.name) continue;
    Result<ClockChoice> choice = candidate.try_it(options);
    if (choice) {
      if (!wanted.empty()) choice->why = (options.clock.empty() ? "as for the waits; " : "asked for; ") + choice->why;
      if (!refused.empty()) choice->why += "; better ones do not work: " + refused;
      return choice;
    }
    code = choice.error().code;
    refused += (refused.empty() ? "" : "; ") + std::string(candidate.name) + ": " + choice.error().what;
  }
  if (refused.empty()) refused = "there is no clock '" + std::string(wanted) + "'; there are " + known;
  return Error{code, refused};
}

}  // namespace tarsier::agent
