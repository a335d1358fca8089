// What the machine gave to the threads and took from them, by the kernel's accounts.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/units.h"

namespace tarsier::analysis {

enum class Resource : uint8_t {
  kSystem,  // ns of the CPU time
  kRunQueue,
  kVoluntarySwitches,
  kInvoluntarySwitches,
  kMinorFaults,
  kMajorFaults,
  kMigrations,
  kSteal,
  kStealScheduled,
  kCount
};
constexpr size_t kResources = static_cast<size_t>(Resource::kCount);
// As in the JSON.
constexpr std::array<std::string_view, kResources> kResourceNames = {
    "system_ns",    "run_queue_ns", "voluntary_switches", "involuntary_switches", "minor_faults",
    "major_faults", "migrations",   "steal_ns",           "steal_scheduled_ns"};

// Of a thread, since the session began or it started.
struct Resources {
  std::array<std::optional<int64_t>, kResources> values{};

  [[nodiscard]] const std::optional<int64_t>& of(Resource which) const { return values[static_cast<size_t>(which)]; }
  // Of several threads: what is not known of some is the sum of what is known of the others.
  void add(const Resources& other);
  // What was stolen: by who was on which CPU, if that is known, else in proportion to CPU time.
  [[nodiscard]] Nanos stolen() const;
};

// An event that was counted in a thread.
struct Counter {
  int64_t value = 0;
  Nanos enabled, running;  // less than enabled: it shared the hardware with others, and was scaled up
};
using Counters = std::map<std::string, Counter>;

// What a thread had used and lost at a moment, since the session began or it started: the ground of weights that are
// corrected (steal_weights.h).
struct StealPoint {
  int64_t time_ns = 0;
  Nanos cpu, steal;
};

// Of all CPUs since the session began.
struct MachineCpu {
  Nanos busy, idle;  // busy: without what was stolen
  Nanos steal;
  Nanos steal_of_threads, steal_of_others, steal_remainder;  // which it is the sum of
  Nanos process_cpu;
  bool steal_in_cpu_time = false;  // the threads' CPU time has the stolen time in it
  std::string source;

  // What a thread really used: its CPU time without what was stolen, if that is in there.
  [[nodiscard]] Nanos corrected(Nanos cpu, const Resources& resources) const;
};

// All of it up to a moment; the threads by their kind (thread_kind.h).
struct MachineMoment {
  static constexpr size_t kKinds = 8;
  struct Kind {
    Nanos cpu, steal;
  };
  int64_t time_ns = 0;
  std::array<Kind, kKinds> kinds{};
  Nanos busy, idle, steal, steal_of_threads, process_cpu;
};

}  // namespace tarsier::analysis
