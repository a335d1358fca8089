// Stack fragments taken by the kernel: the eBPF program of linux/kernel_parts.h, the ticks of all CPUs that run it, the
// threads that it knows and the ring that it writes. The application's threads get no signal.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "agent/engines/starting_threads.h"
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
  // Calls visit(const capture::FragmentRecord&) for the samples in the ring; returns how many there were.
  template <class Visit>
  size_t consume(Visit&& visit, size_t at_most) {
    return ring_.consume(
        [&](const uint8_t* record, size_t size) {
          const auto& header = *reinterpret_cast<const linux::bpf::SampleHeader*>(record);
          if ((header.flags & linux::bpf::kUnknownThread) == 0) return visit(as_record(record));
          const auto tid = static_cast<pid_t>(header.thread);
          if (const auto serial = starting_.owner(tid, header.time_ns)) {
            copy_.assign(record, record + size);  // the ring is the kernel's to write
            visit(adopt(*serial, copy_.data()));
          } else {
            starting_.keep(tid, header.time_ns, {record, size});
          }
        },
        at_most);
  }
  // About once a second: the same for samples whose threads were not known.
  template <class Visit>
  void settle(Visit&& visit) {
    starting_.settle([&](uint32_t serial, uint8_t* record) { visit(adopt(serial, record)); });
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
  static const capture::FragmentRecord& as_record(const uint8_t* record) {
    return *reinterpret_cast<const capture::FragmentRecord*>(record);
  }
  const capture::FragmentRecord& adopt(uint32_t serial, uint8_t* record);

  const Nanos interval_;
  const size_t ring_bytes_;
  linux::BpfRing ring_;
  Mapping bottoms_;
  linux::CpuTicks ticks_;
  const linux::KernelParts parts_;  // without the ticks
  uint64_t random_;
  std::vector<Nanos> next_draw_;  // of each of the ticks; CLOCK_MONOTONIC
  std::atomic<int64_t> not_followed_{0};
  StartingThreads starting_;
  uint64_t adopted_ = 0;  // samples of theirs
  std::vector<uint8_t> copy_;
};

}  // namespace tarsier::agent
