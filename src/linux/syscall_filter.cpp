#include "linux/syscall_filter.h"

#include <fcntl.h>
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
enum : int { kUnknown, kHarmless, kFatal, kNotTried };

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

// Whether the kernel would hand the core of a process whose limit is 0 to a program all the same.
bool cores_go_to_a_program() noexcept {
  const int file = ::open("/proc/sys/kernel/core_pattern", O_RDONLY | O_CLOEXEC);
  char first = '|';
  if (file >= 0) {
    if (::read(file, &first, 1) != 1) first = '|';
    ::close(file);
  }
  return first == '|' || first == '@';
}

// In the child, in our memory, while the caller stands still: as little as possible.
__attribute__((no_sanitize("address", "undefined"))) int make_call(void* number) noexcept {
  // A core of it would be the application's memory. This limit is too small for any, by which kernels know that nobody
  // wants one; who may not have it has a limit of 0, which keeps cores out of files only.
  const rlimit no_core{1, 1};
  if (rlimit limit{}; ::setrlimit(RLIMIT_CORE, &no_core) != 0 &&
                      (::getrlimit(RLIMIT_CORE, &limit) != 0 || limit.rlim_cur != 0 || cores_go_to_a_program()))
    return kNotTried;
  // Without any arguments, so that nothing comes of it where it is permitted.
  ::syscall(*static_cast<const long*>(number), 0L, 0L, 0L, 0L, 0L, 0L);
  return kHarmless;
}

// kUnknown: there was no child.
int try_out(long number) noexcept {
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
  if (child <= 0 || waited != child) return kUnknown;
  return WIFEXITED(status) ? WEXITSTATUS(status) : kFatal;
}

}  // namespace

const char* why_not_call(DoubtfulCall call) noexcept {
  static std::array<std::atomic<int>, static_cast<size_t>(DoubtfulCall::kCount)> known{};
  std::atomic<int>& answer = known[static_cast<size_t>(call)];
  int found = answer.load(std::memory_order_relaxed);
  if (found == kUnknown) {
    const int error = errno;
    found = !has_filter() || !dies_alone() ? int{kHarmless} : try_out(kNumbers[static_cast<size_t>(call)]);
    errno = error;
    answer.store(found, std::memory_order_relaxed);
  }
  switch (found) {
    case kHarmless:
      return nullptr;
    case kFatal:
      return "a filter of system calls (seccomp) kills whoever makes this one";
    case kNotTried:
      return "a filter of system calls (seccomp) may kill whoever makes this one, which can't be tried out while the "
             "hard limit of core files is 0 and cores go to a program";
    default:
      return "a filter of system calls (seccomp) may kill whoever makes this one, and there was no child to try it out";
  }
}

}  // namespace tarsier::linux
