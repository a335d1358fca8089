// How perf's clock spares threads that give their CPU away all the time: restless_thread.h.
//
// Such a thread is asked for its next sample when it has used up its interval, at a random moment. Mostly it sleeps
// then, so the tick must not come soon after it goes on: it would always show what is done first after a wait. It comes
// after a random part of several turns on a CPU.
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
// Turns on a CPU that a tick may come after.
constexpr uint64_t kTurns = 8;
// Fewer say nothing: every thread is switched to and from when it starts.
constexpr uint64_t kFewSwitches = 8;
constexpr uint32_t kSamplesBetweenCounts = 32;

uint64_t cpu_now() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

rusage own_usage() noexcept {
  rusage usage{};
  ::syscall(SYS_getrusage, RUSAGE_THREAD, &usage);
  return usage;
}

uint64_t user_now() noexcept {
  const rusage usage = own_usage();
  return static_cast<uint64_t>(usage.ru_utime.tv_sec) * 1'000'000'000 +
         static_cast<uint64_t>(usage.ru_utime.tv_usec) * 1000;
}

}  // namespace

// Never a large part of the interval: a tick would have to come after less than a turn.
uint64_t PerfClock::longest_restless_turn() const noexcept {
  return std::min(kRestlessNs, options_.interval_ns / 4);
}

uint64_t PerfClock::time_between_switches(RestlessThread& thread) noexcept {
  const rusage usage = own_usage();
  const auto switches = static_cast<uint64_t>(usage.ru_nvcsw) + static_cast<uint64_t>(usage.ru_nivcsw);
  const uint64_t cpu_ns = cpu_now();
  const uint64_t more = switches - thread.switches, used = cpu_ns - thread.switches_cpu_ns;
  thread.switches = switches;
  thread.switches_cpu_ns = cpu_ns;
  return more < kFewSwitches ? 0 : used / more;
}

// At the end of a batch. True: no tick comes before somebody asks for one.
bool PerfClock::spare(ThreadClock& thread) noexcept {
  if (!keeps_restless_) return false;
  RestlessThread& restless = thread.restless;
  const uint64_t turn = time_between_switches(restless);  // the first time: in all of its life
  if (turn == 0 || turn > longest_restless_turn()) return false;
  if (!thread.one_shot) {
    ::ioctl(thread.fd, PERF_EVENT_IOC_DISABLE, 0);
    sigset_t pending;
    if (::sigpending(&pending) != 0 || ::sigismember(&pending, options_.signal) == 1) {
      // A tick has come meanwhile. Another time.
      ::ioctl(thread.fd, PERF_EVENT_IOC_ENABLE, 0);
      return false;
    }
  }
  const uint64_t cpu_ns = restless.switches_cpu_ns;
  // What a batch stands for is less than what was used, by the switches that its event did not see.
  const bool whole_batch = options_.kernel && !thread.one_shot && thread.batch_began_ns != 0;
  const uint64_t stood_for = thread.batch_began_ns + uint64_t{thread.batch} * thread.period_ns;
  restless.counted_ns = !options_.kernel ? user_now() : whole_batch ? std::min(cpu_ns, stood_for) : cpu_ns;
  restless.sampled_cpu_ns = cpu_ns;
  restless.span_ns = std::min(kTurns * turn, options_.interval_ns / 2);
  restless.samples = 0;
  draw_next(thread);
  restless.spared = true;
  if (ask_for_keeper(thread)) return true;
  restless.spared = false;
  if (!thread.one_shot) ::ioctl(thread.fd, PERF_EVENT_IOC_ENABLE, 0);
  return false;
}

bool PerfClock::ask_for_keeper(ThreadClock& thread) noexcept {
  RestlessThread& restless = thread.restless;
  // Nobody else has it in hand now, unless the keeper has not yet noticed that it had gone.
  restless.armed.store(false, std::memory_order_relaxed);
  Pace leaving = Pace::kLeaving;
  // release: what was written above is seen by the keeper, who reads the pace.
  if (restless.pace.compare_exchange_strong(leaving, Pace::kKept, std::memory_order_acq_rel)) return true;
  restless.pace.store(Pace::kAsked, std::memory_order_relaxed);
  restless.next = asked_.load(std::memory_order_relaxed);
  for (int tries = 0; tries < 16; ++tries) {
    // release: pairs with take_restless().
    if (asked_.compare_exchange_weak(restless.next, &thread, std::memory_order_release, std::memory_order_relaxed)) {
      return true;
    }
  }
  restless.pace.store(Pace::kSteady, std::memory_order_relaxed);
  return false;
}

// All that it has used since its last sample; if only user mode is seen, of that.
uint64_t PerfClock::weight_of_spared(ThreadClock& thread, const siginfo_t& info) const noexcept {
  RestlessThread& restless = thread.restless;
  // Another tick is on its way if more than one had been asked for: by mistake, when one seemed to be lost.
  restless.exhausted = info.si_code != POLL_IN;
  const uint64_t cpu_ns = cpu_now();
  restless.sampled_cpu_ns = cpu_ns;
  const uint64_t now = options_.kernel ? cpu_ns : user_now();
  const uint64_t weight = now - std::min(now, restless.counted_ns);
  restless.counted_ns = now;
  return weight;
}

// When the keeper shall ask for the next tick, and how long after that it comes.
void PerfClock::draw_next(ThreadClock& thread) const noexcept {
  RestlessThread& restless = thread.restless;
  __u64 period = kFinest + draw_phase(restless.span_ns, thread.random);
  ::ioctl(thread.fd, PERF_EVENT_IOC_PERIOD, &period);
  const uint64_t wait = draw_period(options_.interval_ns, thread.random), after_that = kFinest + restless.span_ns / 2;
  restless.due_cpu_ns.store(restless.sampled_cpu_ns + wait - std::min(wait, after_that), std::memory_order_relaxed);
}

// After a sample, or a signal that was not ours: if that has swallowed a tick of ours, the keeper finds out.
void PerfClock::rearm_spared(ThreadClock& thread) noexcept {
  RestlessThread& restless = thread.restless;
  if (!restless.exhausted) return;
  if (restless.pace.load(std::memory_order_relaxed) == Pace::kKept && ++restless.samples >= kSamplesBetweenCounts) {
    restless.samples = 0;
    const uint64_t turn = time_between_switches(restless);
    // Much more than when it began, so that none goes to and fro all the time.
    if (turn == 0 || turn > 2 * longest_restless_turn()) return leave_keeper(thread);
    restless.span_ns = std::min(kTurns * turn, options_.interval_ns / 2);
  }
  draw_next(thread);
  // release: the keeper's arm() is for the period that was just drawn.
  restless.armed.store(false, std::memory_order_release);
}

// As it was started. It stays `armed`, so that nobody asks for a tick until the keeper has noticed.
void PerfClock::leave_keeper(ThreadClock& thread) const noexcept {
  thread.restless.spared = false;
  thread.restless.pace.store(Pace::kLeaving, std::memory_order_release);
  begin_with_one_tick(thread);
  __u64 period = thread.period_ns = std::max(kFinest, draw_period(options_.interval_ns, thread.random));
  ::ioctl(thread.fd, PERF_EVENT_IOC_PERIOD, &period);
  ::ioctl(thread.fd, PERF_EVENT_IOC_REFRESH, 1);
}

void PerfClock::arm(const ThreadClock& thread) noexcept {
  ::ioctl(thread.fd, PERF_EVENT_IOC_REFRESH, 1);
}

}  // namespace tarsier::capture
