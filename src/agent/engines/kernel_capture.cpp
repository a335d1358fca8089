#include "agent/engines/kernel_capture.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "linux/bpf_map.h"
#include "linux/cpus.h"

namespace tarsier::agent {

using linux::bpf::Counters;

linux::bpf::Settings KernelCapture::settings_for(const hotspot::ThreadFields& fields) {
  linux::bpf::Settings settings{};
  settings.anchor_sp = fields.anchor_sp;
  settings.anchor_pc = fields.anchor_pc;
  settings.anchor_fp = fields.anchor_fp;
  settings.thread_state = fields.thread_state;
  settings.continuation = fields.continuation;
  settings.stack_base = fields.stack_base;
  settings.unloaded = reinterpret_cast<uintptr_t>(fields.unloaded);
  settings.unloaded_shared = reinterpret_cast<uintptr_t>(fields.unloaded_shared);
  return settings;
}

KernelCapture::KernelCapture(linux::KernelParts parts, linux::BpfRing ring, Nanos interval, size_t ring_bytes)
    : interval_(interval),
      ring_bytes_(ring_bytes),
      ring_(std::move(ring)),
      ticks_(std::exchange(parts.ticks, {})),
      parts_(std::move(parts)),
      random_(static_cast<uint64_t>(clock_now(CLOCK_MONOTONIC).count) | 1),
      next_draw_(ticks_.size()) {}

Result<std::unique_ptr<KernelCapture>> KernelCapture::over(linux::KernelParts parts, Nanos interval,
                                                           size_t ring_bytes) {
  auto ring = linux::BpfRing::map(parts.ring.get(), ring_bytes);
  if (!ring) return std::move(ring).error();
  return std::unique_ptr<KernelCapture>(new KernelCapture(std::move(parts), std::move(*ring), interval, ring_bytes));
}

Status KernelCapture::start() {
  const Nanos now = clock_now(CLOCK_MONOTONIC);
  for (size_t i = 0; i < ticks_.size(); ++i) {
    if (Status status = draw_period(i, now); !status) return status;
  }
  return ticks_.enable();
}

// Each CPU has a period of its own, so they are out of phase from the start on. It keeps it for a number of ticks, not
// for a time: the mean of the periods is then the mean time between samples.
Status KernelCapture::draw_period(size_t index, Nanos now) {
  // The timer starts anew, and half a period on average goes without a tick: one in 800 is no loss.
  constexpr int64_t kTicks = 400;
  const uint64_t period =
      std::max(linux::CpuTicks::kFinestNs, capture::draw_period(static_cast<uint64_t>(interval_.count), random_));
  next_draw_[index] = now + Nanos(static_cast<int64_t>(period)) * kTicks;
  if (Status status = ticks_.set_period(index, period); !status) return status;
  // What a tick stands for. If we are preempted before this, some ticks stand for the old period: as likely too long as
  // too short.
  const int cpu = ticks_.cpu(index);
  if (const int err = linux::set_in_bpf_map(parts_.periods.get(), &cpu, &period))
    return errno_error("setting a period", err);
  return {};
}

void KernelCapture::draw_periods_that_are_due() {
  const Nanos now = clock_now(CLOCK_MONOTONIC);
  for (size_t i = 0; i < ticks_.size(); ++i) {
    if (next_draw_[i] <= now) (void)draw_period(i, now);  // else it ticks on as before
  }
}

Counters KernelCapture::counters() const {
  std::vector<Counters> of_cpus(linux::possible_cpus());
  const uint32_t key = 0;
  Counters sum{};
  if (linux::find_in_bpf_map(parts_.counters.get(), &key, of_cpus.data()) != 0) return sum;
  for (const Counters& cpu : of_cpus) {
    sum.taken += cpu.taken;
    sum.ring_full += cpu.ring_full;
    sum.registers_unreadable += cpu.registers_unreadable;
    sum.thread_unreadable += cpu.thread_unreadable;
    sum.stack_unreadable += cpu.stack_unreadable;
    sum.other_threads += cpu.other_threads;
    sum.ns += cpu.ns;
  }
  return sum;
}

bool KernelCapture::thread_started(const JavaThread& thread) {
  const linux::bpf::Thread known{reinterpret_cast<uintptr_t>(thread.java_thread), 0, thread.serial, 0};
  if (linux::set_in_bpf_map(parts_.threads.get(), &thread.tid, &known) == 0) return true;
  not_followed_.fetch_add(1, std::memory_order_relaxed);
  return false;
}

void KernelCapture::thread_ended(const JavaThread& thread) {
  (void)linux::erase_in_bpf_map(parts_.threads.get(), &thread.tid);  // was not followed, if it is not there
}

}  // namespace tarsier::agent
