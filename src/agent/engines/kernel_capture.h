// Stack fragments taken by the kernel: the eBPF program of linux/kernel_parts.h, the ticks of all CPUs that run it, the
// threads that it knows and the ring that it writes. The application's threads get no signal.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "agent/thread_registry.h"
#include "base/mapping.h"
#include "base/result.h"
#include "base/units.h"
#include "capture/kernel_fragments.h"
#include "linux/bpf_ring.h"
#include "linux/kernel_parts.h"

namespace tarsier::agent {

class KernelCapture final : public ThreadListener {
 public:
  // Where a JavaThread keeps what is copied of it.
  // `virtual_threads`: null if there are none.
  static linux::bpf::Settings settings_for(const hotspot::ThreadFields& fields,
                                           const hotspot::VirtualThreadLayout* virtual_threads);
  // `parts` were made for this process, by ourselves or by somebody else. Nothing ticks yet.
  static Result<std::unique_ptr<KernelCapture>> over(linux::KernelParts parts, Nanos interval, size_t ring_bytes);
  ~KernelCapture() override { silence(); }

  Status start();
  // Any thread: no fragment is taken any more when it returns.
  void silence() noexcept { ticks_.disable(); }

  // The rest is the session thread's.
  template <class Visit>
  size_t consume(Visit&& visit, size_t at_most) {
    return ring_.consume(visit, at_most);
  }
  // At every drain: lets CPUs that have ticked for a while tick with other periods, so that no program keeps in step.
  void draw_periods_that_are_due();
  [[nodiscard]] linux::bpf::Counters counters() const;  // of all CPUs
  [[nodiscard]] bool sees_kernel() const { return parts_.sees_kernel; }
  // Of the kernel's memory: the ring and what else grows with the machine.
  [[nodiscard]] size_t memory_bytes() const { return ring_bytes_ + parts_.scratch_bytes; }
  // The program reads them, too.
  capture::JavaBottoms& bottoms() { return *reinterpret_cast<capture::JavaBottoms*>(bottoms_.data()); }

  bool thread_started(const JavaThread& thread) override;
  void thread_ended(const JavaThread& thread) override;
  [[nodiscard]] int64_t threads_not_followed() const { return not_followed_.load(std::memory_order_relaxed); }

 private:
  KernelCapture(linux::KernelParts parts, linux::BpfRing ring, Mapping bottoms, Nanos interval, size_t ring_bytes);
  Status draw_period(size_t index, Nanos now);

  const Nanos interval_;
  const size_t ring_bytes_;
  linux::BpfRing ring_;
  Mapping bottoms_;
  linux::CpuTicks ticks_;
  const linux::KernelParts parts_;  // without the ticks
  uint64_t random_;
  std::vector<Nanos> next_draw_;  // of each of the ticks; CLOCK_MONOTONIC
  std::atomic<int64_t> not_followed_{0};
};

}  // namespace tarsier::agent
