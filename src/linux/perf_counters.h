// What perf can count in a thread, by the names that perf itself uses: cycles, cache-misses, context-switches, r1b (a
// raw event of this processor), sched:sched_switch (a tracepoint).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "base/units.h"

namespace tarsier::linux {

struct PerfEvent {
  std::string name;
  uint32_t type = 0;  // PERF_TYPE_*
  uint64_t config = 0;
  bool user_only = false;  // what happens in the kernel is not counted, for it is not permitted

  // Counted by the processor: needs a PMU.
  [[nodiscard]] bool needs_hardware() const;
  // Happens in the kernel only: nothing of it is left if that is not permitted.
  [[nodiscard]] bool is_of_kernel() const;
};

// An error names the event, and what there is.
Result<PerfEvent> find_perf_event(std::string_view name, const std::string& root = "");

// Those of them that can be counted here, in this process's threads; of the others why not.
struct UsableEvents {
  std::vector<PerfEvent> events;
  struct LeftOut {
    std::string events;  // "cycles, instructions"
    std::string why;
  };
  std::vector<LeftOut> left_out;
};
UsableEvents usable_events(std::vector<PerfEvent> events);

// Counters of one thread, one descriptor each.
class ThreadCounters {
 public:
  struct Value {
    uint64_t value = 0;
    Nanos enabled, running;
    // As many as there would have been, had it counted all the time.
    [[nodiscard]] int64_t scaled() const;
  };
  // Errors: an errno.
  static std::optional<int> open(pid_t tid, const std::vector<PerfEvent>& events, ThreadCounters& out);
  [[nodiscard]] size_t size() const { return files_.size(); }
  [[nodiscard]] std::optional<Value> read(size_t index) const;

 private:
  std::vector<unique_fd> files_;
};

}  // namespace tarsier::linux
