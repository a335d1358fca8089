#pragma once

#include <sys/types.h>
#include <time.h>

namespace tarsier::linux {

// The CPU clock of any thread of this process, from its id alone: the kernel's encoding (see man clock_getcpuclockid:
// glibc offers it for processes and for pthread_t, not for thread ids).
constexpr clockid_t thread_cpu_clock(pid_t tid) noexcept {
  constexpr unsigned kPerThread = 4, kSched = 2;
  return static_cast<clockid_t>((~static_cast<unsigned>(tid) << 3) | kPerThread | kSched);
}

}  // namespace tarsier::linux
