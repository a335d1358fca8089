#include "capture/signal_capture.h"

#include <errno.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstring>

#include "base/sigsafe/gate.h"

namespace tarsier::capture {
namespace {

// A handler gets no argument from the one who installed it: these two are how it finds its session.
std::atomic<SignalCapture*> g_active{nullptr};
Gate g_gate;

uint64_t now_ns(clockid_t clock) noexcept {
  timespec t;
  ::clock_gettime(clock, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_nsec);
}

}  // namespace

SignalCapture::SignalCapture(Clock& clock, const Memory& memory, size_t record_size, size_t grain) noexcept
    : clock_(clock),
      ring_(memory.ring, memory.ring_size, grain),
      threads_(memory.threads, memory.thread_slots),
      record_size_(record_size) {}

void SignalCapture::activate(SignalCapture* capture) noexcept {
  // seq_cst: see Gate.
  g_active.store(capture, std::memory_order_seq_cst);
  if (capture != nullptr) return;
  while (!g_gate.quiet()) ::sched_yield();  // handlers never wait for anything
}

#if defined(__x86_64__)
// qemu-user enters handlers with a misaligned stack, and AsyncGetCallTrace uses aligned SSE stores.
__attribute__((force_align_arg_pointer))
#endif
void SignalCapture::handle_signal(int, siginfo_t* info, void* ucontext) noexcept {
  const int saved_errno = errno;
  const auto tid = static_cast<pid_t>(::syscall(SYS_gettid));
  g_gate.enter(static_cast<uint32_t>(tid));
  // seq_cst: see Gate.
  if (SignalCapture* capture = g_active.load(std::memory_order_seq_cst)) capture->sample(tid, *info, ucontext);
  g_gate.leave(static_cast<uint32_t>(tid));
  errno = saved_errno;
}

void SignalCapture::sample(pid_t tid, const siginfo_t& info, void* ucontext) noexcept {
  SampledThread* thread = threads_.find(tid);
  if (thread == nullptr) {
    // A tick that was under way when its thread said goodbye.
    if (info.si_code == SI_USER) return;
    counters_.taken.fetch_add(1, std::memory_order_relaxed);
    drop(Drop::kUnknownThread);
    return;
  }
  if (!clock_.owns(thread->clock, info)) {
    // Somebody's kill(). Standard signals coalesce, so a tick of ours may have been swallowed by it: go on ticking.
    clock_.rearm(thread->clock);
    return;
  }
  if (!clock_.wants(thread->clock)) return clock_.rearm(thread->clock);
  // Our own cost is CPU time, not the time on the wall, which includes being preempted; but that clock is a system
  // call, so one sample in kMeasureOneIn pays for it and stands for the others.
  constexpr uint32_t kMeasureOneIn = 32;
  const bool measure = thread->samples++ % kMeasureOneIn == 0;
  const uint64_t start = measure ? now_ns(CLOCK_THREAD_CPUTIME_ID) : 0;
  counters_.taken.fetch_add(1, std::memory_order_relaxed);
  take(*thread, info, ucontext, now_ns(CLOCK_MONOTONIC));
  clock_.rearm(thread->clock);
  if (!measure) return;
  counters_.measured.fetch_add(1, std::memory_order_relaxed);
  counters_.measured_ns.fetch_add(now_ns(CLOCK_THREAD_CPUTIME_ID) - start, std::memory_order_relaxed);
}

void SignalCapture::repeat(const ThreadClock& thread, uint64_t now_ns, uint64_t weight_ns) noexcept {
  counters_.taken.fetch_add(1, std::memory_order_relaxed);
  uint8_t* out = ring_.reserve(record_size_);
  if (out == nullptr) return drop(Drop::kRingFull);
  SampleHeader header{};
  header.time_ns = now_ns;
  header.weight_ns = weight_ns;
  header.thread = thread.serial;
  header.waits = thread.waits.load(std::memory_order_relaxed);
  header.repeated = true;
  std::memset(out, 0, record_size_);
  std::memcpy(out, &header, sizeof(header));
  ring_.commit(out);
}

}  // namespace tarsier::capture
