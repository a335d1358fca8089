#include "linux/syscall_filter.h"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>

#include "base/under_sanitizer.h"

namespace tarsier::linux {
namespace {

enum : int { kMayNot = 10, kMay = 11, kNoFilter = 12 };

// What a process learns that answers `number` in that way.
int answer_behind_filter(unsigned number, unsigned answer) {
  const pid_t child = ::fork();
  if (child == 0) {
    sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, answer),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog program = {sizeof(code) / sizeof(code[0]), code};
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
      ::_exit(kNoFilter);
    ::_exit(may_call(DoubtfulCall::kPerfEventOpen) ? kMay : kMayNot);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(SyscallFilter, a_call_that_kills_is_found_out_by_a_child) {
  if (kUnderSanitizer) GTEST_SKIP() << "a child in our memory is nothing for a sanitizer";
  utsname kernel{};
  int major = 0, minor = 0;
  ASSERT_EQ(::uname(&kernel), 0);
  ASSERT_EQ(std::sscanf(kernel.release, "%d.%d", &major, &minor), 2);
  if (major < 5 || (major == 5 && minor < 16)) GTEST_SKIP() << "Linux " << kernel.release << ": nothing is tried there";
  EXPECT_TRUE(may_call(DoubtfulCall::kBpf)) << "there is no filter";
  const int killed = answer_behind_filter(SYS_perf_event_open, SECCOMP_RET_KILL_PROCESS);
  if (killed == kNoFilter) GTEST_SKIP() << "no filters here";
  EXPECT_EQ(killed, kMayNot);
  EXPECT_EQ(answer_behind_filter(SYS_perf_event_open, SECCOMP_RET_KILL_THREAD), kMayNot);
  EXPECT_EQ(answer_behind_filter(SYS_perf_event_open, SECCOMP_RET_ERRNO | EPERM), kMay) << "it may ask, and is told no";
  EXPECT_EQ(answer_behind_filter(SYS_swapoff, SECCOMP_RET_KILL_PROCESS), kMay);
}

}  // namespace
}  // namespace tarsier::linux
