// The ticks of all CPUs, each with a period of its own that is drawn anew now and then.
#pragma once

#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "base/units.h"
#include "linux/cpu_ticks.h"

namespace tarsier::linux {

class DrawnTicks {
 public:
  // `periods`: a map in which the program finds what a tick of a CPU stands for.
  DrawnTicks(std::vector<CpuTick> ticks, unique_fd periods, Nanos interval);

  // Again, if it was stopped.
  Status start();
  // Any thread. No program runs any more when it returns.
  void stop() const noexcept { ticks_.disable(); }
  // Now and then: lets CPUs that have ticked for a while tick with other periods, so that no program keeps in step.
  void draw_those_due();

 private:
  Status draw(size_t index, Nanos now);

  CpuTicks ticks_;
  unique_fd periods_;
  Nanos interval_;
  uint64_t random_;
  std::vector<Nanos> next_draw_;  // of each of the ticks; CLOCK_MONOTONIC
};

}  // namespace tarsier::linux
