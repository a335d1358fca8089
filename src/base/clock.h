// The two clocks of a recording. JFR ticks are CLOCK_MONOTONIC nanoseconds (1e9 per second): readable in a signal
// handler through the vDSO, and the same clock that perf, eBPF and HotSpot's own os::javaTimeNanos use.
#pragma once

#include <time.h>

#include "base/units.h"

namespace tarsier {

inline Nanos clock_now(clockid_t clock) noexcept {
  timespec t{};
  ::clock_gettime(clock, &t);
  return Nanos(t.tv_sec * 1'000'000'000 + t.tv_nsec);
}
inline Nanos monotonic_now() noexcept {
  return clock_now(CLOCK_MONOTONIC);
}
inline Nanos wall_now() noexcept {
  return clock_now(CLOCK_REALTIME);
}

}  // namespace tarsier
