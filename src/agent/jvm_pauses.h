// What the JVM as a whole stood still for: pauses of garbage collections, one by one (JVMTI), and safepoints, as many
// as there were in about a second (the JVM's own counters). Part of every recording: it changes nothing in the JVM, and
// costs a microsecond in each pause.
#pragma once

#include <jvmti.h>

#include <optional>
#include <string>
#include <vector>

#include "agent/engines/engine.h"
#include "agent/jvm.h"
#include "base/mapping.h"
#include "capture/pause_capture.h"
#include "hotspot/perf_memory.h"
#include "recording/writer.h"

namespace tarsier::agent {

// The JVM's counters of its safepoints, all of them cumulative.
struct SafepointCounters {
  int64_t count = 0, time = 0, time_to_stop = 0;  // times in ticks
};

class JvmPauses {
 public:
  JvmPauses(const Jvm& jvm, recording::Writer& writer);

  // The JVMTI events come from now on, to whoever has the callbacks. What is recorded, and what is not and why.
  control::EngineReport start();
  // In the JVM's thread, while the program stands still.
  void on_collection_start() noexcept;
  void on_collection_finish() noexcept;

  // Session thread. Writes the pauses that are over.
  void drain();
  // About once a second: likewise, and the safepoints since the last call.
  void update();
  // No events any more when it returns, and the last of them drained.
  void stop();
  [[nodiscard]] EngineStats stats() const;

 private:
  void find_counters();
  void find_frequency();
  void write(const capture::PauseRecord& record);
  void write_safepoints();
  [[nodiscard]] std::optional<SafepointCounters> read_counters() const;
  [[nodiscard]] std::string name_of(const capture::PauseRecord& record) const;
  [[nodiscard]] bool set_events(jvmtiEventMode mode);

  const Jvm& jvm_;
  recording::Writer& writer_;
  std::string no_counters_;                      // why there are none; empty if there are
  std::optional<hotspot::PerfMemory> counters_;  // of the JVM
  std::vector<std::string> collectors_;          // names, in the order of the signs
  Mapping ring_;
  std::optional<capture::PauseCapture> capture_;
  bool listens_ = false;
  uint64_t written_ = 0;
  pid_t tid_ = 0;  // of the last pause's thread, which is usually the same
  std::string thread_;

  double nanos_per_tick_ = 0;
  bool time_has_all_ = false;  // the JVM's time of safepoints begins when it asks threads to stop
  std::optional<SafepointCounters> before_;
  Nanos before_at_;
};

}  // namespace tarsier::agent
