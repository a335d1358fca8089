#include "capture/cpu_timer_clock.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "linux/thread_clock.h"

namespace tarsier::capture {
namespace {

// A timer holds a place in its user's queue of pending signals as long as it lives, and whoever finds that queue full
// can neither queue a signal nor make a timer: half of it stays the application's.
uint64_t half_of_pending_signals() noexcept {
  rlimit limit{};
  return ::getrlimit(RLIMIT_SIGPENDING, &limit) == 0 ? limit.rlim_cur / 2 : UINT64_MAX;
}

}  // namespace

CpuTimerClock::CpuTimerClock(int signal, uint64_t interval_ns) noexcept
    : signal_(signal), interval_ns_(interval_ns), most_timers_(half_of_pending_signals()) {}

// Raw system calls: glibc's timer_create hides the kernel's id, and its SIGEV_THREAD machinery is nothing for us.
int CpuTimerClock::start(pid_t tid, ThreadClock& thread) noexcept {
  thread.random = (static_cast<uint64_t>(tid) << 32) ^ static_cast<uint64_t>(::time(nullptr)) ^ 0x9E3779B97F4A7C15ULL;
  thread.period_ns = interval_ns_;
  if (timers_ >= most_timers_) return EAGAIN;
  sigevent event;
  std::memset(&event, 0, sizeof(event));
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = signal_;
  event._sigev_un._tid = tid;
  int id = 0;
  if (::syscall(SYS_timer_create, linux::thread_cpu_clock(tid), &event, &id) != 0) return errno;
  thread.timer = reinterpret_cast<timer_t>(static_cast<intptr_t>(id));
  thread.has_timer = true;
  ++timers_;

  const uint64_t phase = draw_phase(interval_ns_, thread.random);
  itimerspec spec{};
  spec.it_value.tv_sec = static_cast<time_t>(phase / 1'000'000'000);
  spec.it_value.tv_nsec = static_cast<long>(phase % 1'000'000'000);
  spec.it_interval.tv_sec = static_cast<time_t>(interval_ns_ / 1'000'000'000);
  spec.it_interval.tv_nsec = static_cast<long>(interval_ns_ % 1'000'000'000);
  if (::syscall(SYS_timer_settime, id, 0, &spec, nullptr) != 0) {
    const int err = errno;
    stop(thread);
    return err;
  }
  return 0;
}

void CpuTimerClock::stop(ThreadClock& thread) noexcept {
  if (!thread.has_timer) return;
  ::syscall(SYS_timer_delete, static_cast<int>(reinterpret_cast<intptr_t>(thread.timer)));
  thread.has_timer = false;
  --timers_;
}

bool CpuTimerClock::owns(const ThreadClock& thread, const siginfo_t& info) const noexcept {
  return info.si_code == SI_TIMER && thread.has_timer;
}

uint64_t CpuTimerClock::weight_ns(ThreadClock&, const siginfo_t& info) noexcept {
  // Ticks that came while the last one was still pending are told by the kernel as an overrun.
  const uint64_t missed = info.si_overrun > 0 ? static_cast<uint64_t>(info.si_overrun) : 0;
  return interval_ns_ * (1 + missed);
}

}  // namespace tarsier::capture
