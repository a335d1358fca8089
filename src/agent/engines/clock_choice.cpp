#include "agent/engines/clock_choice.h"

#include <array>
#include <string_view>

#include "base/parse.h"
#include "capture/cpu_timer_clock.h"
#include "capture/perf_clock.h"
#include "linux/procfs.h"

namespace tarsier::agent {
namespace {

constexpr Nanos kDefaultInterval = millis(1);

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
  ClockChoice choice;
  choice.name = "perf";
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
    return std::make_unique<capture::PerfClock>(
        capture::PerfClock::Options{signal, static_cast<uint64_t>(c.interval.count), c.kernel});
  };
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

struct Candidate {
  std::string_view name;
  Result<ClockChoice> (*try_it)(const control::SessionOptions&);
};
// The best first.
constexpr std::array<Candidate, 2> kClocks = {{{"perf", try_perf}, {"cputimer", try_cpu_timer}}};

}  // namespace

Result<ClockChoice> choose_clock(const control::SessionOptions& options) {
  std::string known, refused;
  Errc code = Errc::kUsage;
  for (const Candidate& candidate : kClocks) {
    known += (known.empty() ? "" : ", ") + std::string(candidate.name);
    if (!options.clock.empty() && options.clock != candidate.name) continue;
    Result<ClockChoice> choice = candidate.try_it(options);
    if (choice) {
      if (!options.clock.empty()) choice->why = "asked for; " + choice->why;
      if (!refused.empty()) choice->why += "; better ones do not work: " + refused;
      return choice;
    }
    code = choice.error().code;
    refused += (refused.empty() ? "" : "; ") + std::string(candidate.name) + ": " + choice.error().what;
  }
  if (refused.empty()) refused = "there is no clock '" + options.clock + "'; there are " + known;
  return Error{code, refused};
}

}  // namespace tarsier::agent
