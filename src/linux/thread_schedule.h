// When a thread of this process runs, waits for a CPU, or sleeps: the kernel's own account of it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

#include "base/unique_fd.h"
#include "base/units.h"

namespace tarsier::linux {

struct ThreadSchedule {
  char state = 0;      // R, S, D, ..
  uint64_t waits = 0;  // how often it has gone to sleep; a thread that just lost its CPU has not
  Nanos queued;        // time in which it could have run and had no CPU
};

class ThreadSchedules {
 public:
  ThreadSchedules();
  // Nothing once it is gone. Two files of some 5 us each.
  [[nodiscard]] std::optional<ThreadSchedule> of(pid_t tid) const;
  // False if this kernel does not keep account of the time that threads wait for a CPU.
  [[nodiscard]] static bool kernel_tells();

 private:
  unique_fd tasks_;  // /proc/self/task: shorter paths are found faster
};

}  // namespace tarsier::linux
