#include "linux/perf_open.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "linux/syscall_filter.h"

namespace tarsier::linux {

int open_perf_event(perf_event_attr& attr, pid_t thread, int cpu) noexcept {
  if (!may_call(DoubtfulCall::kPerfEventOpen)) {
    errno = EPERM;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_perf_event_open, &attr, thread, cpu, -1, PERF_FLAG_FD_CLOEXEC));
}

}  // namespace tarsier::linux
