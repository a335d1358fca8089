// What threads did in certain times, such as while they held a lock that others waited for: from CPU samples, waits and
// lock events, as far as these are in the recording.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/blocked_times.h"
#include "analysis/labels.h"

namespace tarsier::analysis {

// A time of a thread that row `row` of the result is about.
struct ActivePeriod {
  uint32_t row = 0;
  ThreadIndex thread{};
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  // While it waits for that one it can't be its owner: it is then on its way to it, which is no part of the period.
  LockIndex lock = kNoLock;
};

struct Activity {
  int64_t total_ns = 0;            // each moment of a thread once
  int64_t cpu_ns = 0;              // what CPU samples in there stand for
  int64_t blocked_ns = 0;          // by (other) locks
  int64_t parked_ns = 0;           // for something that is no lock
  std::vector<int64_t> waited_ns;  // by index into Model::wait_kinds; none of what the two above have already
  struct Method {
    uint32_t label = 0;
    int64_t ns = 0;
  };
  std::vector<Method> methods;  // innermost Java methods of CPU samples, most time first

  // What none of these tells: no sample hit, or the thread had no CPU.
  [[nodiscard]] int64_t rest_ns() const;
};

// Are there samples or waits that could tell?
bool activity_recorded(const Model& model);

std::vector<Activity> thread_activity(const Model& model, const BlockedTimes& times, const Labels& labels,
                                      std::vector<ActivePeriod> periods, size_t rows);

}  // namespace tarsier::analysis
