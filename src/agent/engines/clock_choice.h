// Which clock drives the samples, and why that one.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "capture/clock.h"
#include "control/options.h"
#include "recording/events.h"

namespace tarsier::agent {

// Clocks that are none: the kernel itself takes the samples, which only the engine `fragment` can decode. By a program
// of ours, or by itself.
constexpr std::string_view kKernelClock = "ebpf";
constexpr std::string_view kRingClock = "perf-rings";

struct ClockChoice {
  std::string name;
  std::string why;
  Nanos interval;
  std::vector<std::string> warnings;
  // Made when the signal is known. Null: there is no signal, see kKernelClock and kRingClock.
  std::unique_ptr<capture::Clock> (*make)(const ClockChoice& choice, int signal) = nullptr;
  int fixed_signal = 0;                                         // the only one that the clock can send; 0: any will do
  bool kernel = false;                                          // kernel stacks and time in the kernel are seen
  recording::Event event = recording::Event::kExecutionSample;  // what a sample is
  bool per_thread = false;  // takes something of the process for each thread, and may find nothing left
};

// The name of the clock that samples are to come from if nobody asks for one; empty: any. Who finds waits by eBPF has
// its rights, and pays for it at every context switch: a clock for each thread would cost as much again there, those of
// the CPUs cost nothing.
std::string_view implied_clock(const control::SessionOptions& options);

// The clock of that name, or the best that works here if it is empty.
Result<ClockChoice> choose_clock(const control::SessionOptions& options, std::string_view wanted);
// The one that the options name, likewise.
Result<ClockChoice> choose_clock(const control::SessionOptions& options);

}  // namespace tarsier::agent
