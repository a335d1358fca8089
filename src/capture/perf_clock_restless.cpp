// How perf's clock spares threads that give their CPU away all the time: restless_thread.h.
#include <linux/perf_event.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

#include "capture/perf_clock.h"

namespace tarsier::capture {
namespace {

// A thread that runs for so long before it gives its CPU away pays 2 % for an event that is always on.
constexpr uint64_t kRestlessNs = 100'000;
// Fewer say nothing: every thread is switched to and from when it starts.
constexpr uint64_t kFewSwitches = 8;
constexpr uint32_t kSamplesBetweenCounts = 32;
// At shorter intervals our thread would have to look so often that nothing is spared.
constexpr uint64_t kShortestInterval = 400'000;

uint64_t cpu_now() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace

// Never a large part of the interval: then there is little to be spared.
uint64_t PerfClock::longest_restless_turn() const noexcept {
  return std::min(kRestlessNs, options_.interval_ns / 4);
}

uint64_t PerfClock::time_between_switches(RestlessThread& thread) noexcept {
  rusage usage{};
  ::syscall(SYS_getrusage, RUSAGE_THREAD, &usage);
  const auto switches = static_cast<uint64_t>(usage.ru_nvcsw) + static_cast<uint64_t>(usage.ru_nivcsw);
  const uint64_t cpu_ns = cpu_now();
  const uint64_t more = switches - thread.switches, used = cpu_ns - thread.switches_cpu_ns;
  thread.switches = switches;
  thread.switches_cpu_ns = cpu_ns;
  return more < kFewSwitches ? 0 : used / more;
}

// At the end of a batch. It ticks by itself until it is kept. Where the kernel is not to be seen a tick that comes
// there is tried again at once, and would mostly show what follows: there it goes on as it is.
void PerfClock::look_for_restlessness(ThreadClock& thread) noexcept {
  if (!keeps_restless_ || !options_.kernel || options_.interval_ns < kShortestInterval) return;
  const uint64_t turn = time_between_switches(thread.restless);  // the first time: in all of its life
  if (turn != 0 && turn <= longest_restless_turn()) ask_for_keeper(thread);
}

void PerfClock::ask_for_keeper(ThreadClock& thread) noexcept {
  RestlessThread& restless = thread.restless;
  Pace pace = restless.pace.load(std::memory_order_relaxed);
  if (pace == Pace::kAsked || pace == Pace::kKept) return;
  // The keeper may not have noticed yet that it had gone.
  pace = Pace::kLeaving;
  if (restless.pace.compare_exchange_strong(pace, Pace::kKept, std::memory_order_acq_rel)) return;
  restless.has_asked = true;
  restless.pace.store(Pace::kAsked, std::memory_order_relaxed);
  restless.next = asked_.load(std::memory_order_relaxed);
  for (int tries = 0; tries < 16; ++tries) {
    // release: pairs with take_restless().
    if (asked_.compare_exchange_weak(restless.next, &thread, std::memory_order_release, std::memory_order_relaxed)) {
      return;
    }
  }
  restless.pace.store(Pace::kSteady, std::memory_order_relaxed);  // another time
}

// The event does not count switches, and before the first batch is over nobody knows how much that is.
void PerfClock::owe(ThreadClock& thread, uint64_t cpu_ns, uint32_t ticks) noexcept {
  const bool asked = thread.restless.pace.load(std::memory_order_relaxed) != Pace::kSteady;
  if (!asked || thread.one_shot || thread.batch_began_ns == 0) return;
  const uint64_t used = cpu_ns - thread.batch_began_ns, told = uint64_t{ticks} * thread.period_ns;
  thread.restless.owed_ns += used - std::min(used, told);
}

// It is kept: from now on only the keeper makes it tick. False: another time.
bool PerfClock::spare(ThreadClock& thread) const noexcept {
  RestlessThread& restless = thread.restless;
  if (!thread.one_shot) {
    ::ioctl(thread.fd, PERF_EVENT_IOC_DISABLE, 0);
    sigset_t pending;
    if (::sigpending(&pending) != 0 || ::sigismember(&pending, options_.signal) == 1) {
      // A tick has come meanwhile.
      ::ioctl(thread.fd, PERF_EVENT_IOC_ENABLE, 0);
      return false;
    }
  }
  restless.spared = true;
  restless.samples = 0;
  restless.sampled_cpu_ns = cpu_now();
  owe(thread, restless.sampled_cpu_ns, thread.batch - thread.batch_left + 1);
  wait_for_keeper(thread);
  return true;
}

void PerfClock::wait_for_keeper(ThreadClock& thread) const noexcept {
  RestlessThread& restless = thread.restless;
  restless.armed.store(false, std::memory_order_relaxed);
  // release: the keeper sees that it is not armed.
  restless.due_cpu_ns.store(restless.sampled_cpu_ns + draw_period(options_.interval_ns, thread.random),
                            std::memory_order_release);
}

// All that it has used since its last sample.
uint64_t PerfClock::weight_of_spared(ThreadClock& thread) noexcept {
  RestlessThread& restless = thread.restless;
  restless.due_cpu_ns.store(RestlessThread::kNever, std::memory_order_relaxed);  // the tick is not lost
  const uint64_t weight = cpu_now() - restless.sampled_cpu_ns;
  restless.sampled_cpu_ns += weight;
  // Not at once: one sample would show where all of that was.
  const uint64_t owed = std::min(restless.owed_ns, weight / 4);
  restless.owed_ns -= owed;
  return weight + owed;
}

// After a sample. (After a signal that was not ours, which may have swallowed a tick of ours, the keeper finds out.)
void PerfClock::rearm_spared(ThreadClock& thread) noexcept {
  RestlessThread& restless = thread.restless;
  if (restless.due_cpu_ns.load(std::memory_order_relaxed) != RestlessThread::kNever) return;
  // Another tick is on its way if more than one was asked for, since one seemed to be lost.
  if (!thread.hung_up) ::ioctl(thread.fd, PERF_EVENT_IOC_DISABLE, 0);
  if (++restless.samples >= kSamplesBetweenCounts) {
    restless.samples = 0;
    const uint64_t turn = time_between_switches(restless);
    // Much more than when it began, so that none goes to and fro all the time.
    if (turn == 0 || turn > 2 * longest_restless_turn()) return leave_keeper(thread);
  }
  wait_for_keeper(thread);
}

// As it was started.
void PerfClock::leave_keeper(ThreadClock& thread) const noexcept {
  thread.restless.spared = false;
  thread.restless.pace.store(Pace::kLeaving, std::memory_order_release);
  begin_with_one_tick(thread);
  __u64 period = thread.period_ns = std::max(kFinest, draw_period(options_.interval_ns, thread.random));
  ::ioctl(thread.fd, PERF_EVENT_IOC_PERIOD, &period);
  ::ioctl(thread.fd, PERF_EVENT_IOC_REFRESH, 1);
}

void PerfClock::arm(const ThreadClock& thread, uint64_t cpu_ns) noexcept {
  __u64 period = std::max(kFinest, cpu_ns);
  ::ioctl(thread.fd, PERF_EVENT_IOC_PERIOD, &period);
  ::ioctl(thread.fd, PERF_EVENT_IOC_REFRESH, 1);
}

}  // namespace tarsier::capture
