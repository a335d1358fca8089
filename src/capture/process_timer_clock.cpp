#include "capture/process_timer_clock.h"

#include <errno.h>

namespace tarsier::capture {

int ProcessTimerClock::set(uint64_t interval_ns) noexcept {
  itimerval timer{};
  timer.it_interval.tv_sec = static_cast<time_t>(interval_ns / 1'000'000'000);
  timer.it_interval.tv_usec = static_cast<suseconds_t>(interval_ns % 1'000'000'000 / 1'000);
  timer.it_value = timer.it_interval;
  return ::setitimer(which_, &timer, nullptr) == 0 ? 0 : errno;
}

}  // namespace tarsier::capture
