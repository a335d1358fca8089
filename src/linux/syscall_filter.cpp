#include "linux/syscall_filter.h"

#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>

namespace tarsier::linux {
namespace {

constexpr long kNumbers[] = {SYS_perf_event_open, SYS_bpf};
enum : int { kHarmless = 0, kNotTried = 1 };

bool has_filter() noexcept {
  return ::prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == SECCOMP_MODE_FILTER;
}

// Whether the core of a process is its own affair.
bool dies_alone() noexcept {
  utsname kernel{};
  int major = 0, minor = 0;
  if (::uname(&kernel) != 0 || std::sscanf(kernel.release, "%d.%d", &major, &minor) != 2) return false;
  return major > 5 || (major == 5 && minor >= 16);
}

// In the child, in our memory, while the caller stands still: as little as possible.
__attribute__((no_sanitize("address", "undefined"))) int make_call(void* number) noexcept {
  // Too little for a core, by which kernels know that nobody wants one: it would be the application's memory.
  const rlimit no_core{1, 1};
  if (::setrlimit(RLIMIT_CORE, &no_core) != 0) return kNotTried;
  // Without any arguments, so that nothing comes of it where it is permitted.
  ::syscall(*static_cast<const long*>(number), 0L, 0L, 0L, 0L, 0L);
  return kHarmless;
}

bool survives(long number) noexcept {
  alignas(16) char stack[16 << 10];
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  // No signal tells of its end: children are the application's affair.
  const pid_t child = ::clone(make_call, stack + sizeof(stack), CLONE_VM | CLONE_VFORK, &number);
  int status = 0;
  pid_t waited = child;
  if (child > 0) {
    do {
      waited = ::waitpid(child, &status, __WALL);
    } while (waited < 0 && errno == EINTR);
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return child > 0 && waited == child && WIFEXITED(status) && WEXITSTATUS(status) == kHarmless;
}

}  // namespace

bool may_call(DoubtfulCall call) noexcept {
  enum : int { kUnknown, kYes, kNo };
  static std::array<std::atomic<int>, static_cast<size_t>(DoubtfulCall::kCount)> known{};
  std::atomic<int>& answer = known[static_cast<size_t>(call)];
  if (const int value = answer.load(std::memory_order_relaxed); value != kUnknown) return value == kYes;
  const int error = errno;
  const bool may = !has_filter() || !dies_alone() || survives(kNumbers[static_cast<size_t>(call)]);
  errno = error;
  answer.store(may ? kYes : kNo, std::memory_order_relaxed);
  return may;
}

}  // namespace tarsier::linux
