#include "agent/engines/clock_thread.h"

#include <signal.h>

#include <algorithm>
#include <ctime>

#include "base/clock.h"
#include "capture/clock.h"

namespace tarsier::agent {

int ClockThread::start(void* (*run)(void*), void* self, const char* name) noexcept {
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const int err = ::pthread_create(&thread_, nullptr, run, self);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  running_ = err == 0;
  if (running_) ::pthread_setname_np(thread_, name);
  return err;
}

void ClockThread::stop() noexcept {
  if (!running_) return;
  must_stop_.store(true);
  ::pthread_join(thread_, nullptr);
  running_ = false;
}

RandomTicks::RandomTicks(Nanos interval)
    : interval_(interval), next_(monotonic_now()), random_(static_cast<uint64_t>(next_.count) | 1) {}

Nanos RandomTicks::wait() {
  const auto period = capture::draw_period(static_cast<uint64_t>(interval_.count), random_);
  next_ = std::max(next_ + Nanos(static_cast<int64_t>(period)), monotonic_now());
  const timespec until{next_.count / 1'000'000'000, next_.count % 1'000'000'000};
  ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
  const Nanos now = monotonic_now();
  lateness_ = now - next_;
  return now;
}

}  // namespace tarsier::agent
