#include <signal.h>
#include <string.h>

#include <algorithm>
#include <string>

#include "doctor/checks.h"
#include "linux/signals.h"

namespace tarsier::doctor {
namespace {

bool takes(uint64_t set, int number) {
  return (set >> (number - 1) & 1) != 0;
}

std::string signal_name(int number) {
  return "SIG" + std::string(::sigabbrev_np(number));
}

Finding signals(const JvmFacts& facts, const MachineFacts&) {
  if (!facts.state) return unknown("signals", "no right to see its state", as_root(facts));
  std::string free, taken;
  for (const int number : linux::signals_we_may_take()) {
    std::string& list = takes(facts.state->caught | facts.state->blocked, number) ? taken : free;
    list.append(list.empty() ? "" : ", ").append(signal_name(number));
  }
  // Fixed by the kernel: these two clocks can send no other.
  std::string lost;
  if (takes(facts.state->caught | facts.state->blocked, SIGPROF)) lost = "clock itimer (SIGPROF)";
  if (takes(facts.state->caught | facts.state->blocked, SIGALRM)) {
    lost.append(lost.empty() ? "" : " and ").append("clock real (SIGALRM)");
  }
  if (free.empty()) {
    return {"signals", Grade::kProblem, taken + " all have handlers or are blocked",
            "no signal is left for sampling, and we take nobody's", "stop the other profiler first"};
  }
  if (taken.empty() && lost.empty()) return {"signals", Grade::kOk, "free: " + free};
  return {"signals", lost.empty() ? Grade::kOk : Grade::kNote,
          "free: " + free + (taken.empty() ? "" : "; taken or blocked: " + taken),
          lost.empty() ? "" : lost + " can't be used; the others can"};
}

struct KnownAgent {
  std::string_view part;  // of a library's file name
  std::string_view name;
  std::string_view meaning;
};
constexpr KnownAgent kKnown[] = {
    {"libasyncProfiler", "async-profiler", "it may hold SIGPROF and perf events; both can run side by side"},
    {"libjavaProfiler", "the Datadog profiler", "it may hold SIGPROF; both can run side by side"},
    {"libjdwp", "a debugger (JDWP)", "stacks are as they are; breakpoints stop threads"},
    {"liblagent", "honest-profiler", "it holds SIGPROF"},
    {"libperf-jvmti", "perf's agent", ""},
    {"libinstrument", "a Java agent (-javaagent or attached)", "methods that it rewrote look as rewritten"},
};

Finding agents(const JvmFacts& facts, const MachineFacts&) {
  if (!facts.unreadable.empty()) return unknown("agents", facts.unreadable, as_root(facts));
  std::string found, meaning;
  for (const KnownAgent& known : kKnown) {
    const bool loaded = std::any_of(facts.libraries.begin(), facts.libraries.end(), [&](const std::string& path) {
      return std::string_view(path).substr(path.rfind('/') + 1).starts_with(known.part);
    });
    if (!loaded) continue;
    found.append(found.empty() ? "" : ", ").append(known.name);
    if (!known.meaning.empty()) meaning.append(meaning.empty() ? "" : "; ").append(known.meaning);
  }
  if (found.empty()) return {"agents", Grade::kOk, "no other agent that we know is loaded"};
  return {"agents", Grade::kNote, found, meaning};
}

Finding flight_recorder(const JvmFacts& facts, const MachineFacts&) {
  const bool active = std::any_of(facts.thread_names.begin(), facts.thread_names.end(),
                                  [](const std::string& name) { return name.starts_with("JFR "); });
  if (!active) return {"jfr", Grade::kOk, "not running"};
  return {"jfr", Grade::kNote, "JFR is recording in this JVM",
          "both can run side by side; what they cost adds up, and each sees the other's work",
          "jcmd " + std::to_string(facts.jvm.pid) + " JFR.stop name=NAME    (JFR.check names them)"};
}

Finding own_library(const JvmFacts& facts, const MachineFacts&) {
  std::string found;
  for (const std::string& path : facts.libraries) {
    if (path.ends_with("/libtarsier.so")) found.append(found.empty() ? "" : ", ").append(path);
  }
  // The session's thread; it is there only while a recording runs.
  const bool recording =
      std::find(facts.thread_names.begin(), facts.thread_names.end(), "tarsier") != facts.thread_names.end();
  if (recording) {
    return {"recording", Grade::kProblem, "this JVM is being recorded by tarsier right now",
            "a second recording is refused (exit code 4)", "wait until it has ended, or end it there by Ctrl-C"};
  }
  if (found.empty()) return {"recording", Grade::kOk, "not being recorded"};
  return {"recording", Grade::kOk, "not being recorded; idle since an earlier recording: " + found};
}

constexpr JvmCheck kChecks[] = {signals, agents, flight_recorder, own_library};

}  // namespace

std::span<const JvmCheck> company_checks() {
  return kChecks;
}

}  // namespace tarsier::doctor
