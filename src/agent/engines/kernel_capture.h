// Stack fragments taken by the kernel: the eBPF program of linux/kernel_parts.h, the ticks of all CPUs that run it, the
// threads that it knows and the ring that it writes. The application's threads get no signal.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "agent/engines/fragment_source.h"
#include "agent/engines/starting_threads.h"
#include "base/mapping.h"
#include "base/result.h"
#include "base/units.h"
#include "capture/kernel_fragments.h"
#include "linux/bpf_ring.h"
#include "linux/drawn_ticks.h"
#include "linux/kernel_parts.h"

namespace tarsier::agent {

class KernelCapture final : public FragmentSource {
 public:
  // `virtual_threads`: null if there are none.
  static linux::bpf::JavaLayout layout_of(const hotspot::ThreadFields& fields,
                                          const hotspot::VirtualThreadLayout* virtual_threads);
  // `parts` were made for this process, by ourselves or by somebody else, who has the ticks then. Nothing is sampled
  // yet.
  static Result<std::unique_ptr<KernelCapture>> over(linux::KernelParts parts, Nanos interval, size_t ring_bytes);
  ~KernelCapture() override { silence(); }

  Status start() override;
  void silence() noexcept override;
  size_t consume(const Visit& visit, size_t at_most) override;
  [[nodiscard]] size_t used() const override { return ring_.used(); }
  // Samples whose threads were not known.
  void settle(const Visit& visit) override;
  [[nodiscard]] linux::bpf::Counters counters() const;  // of all CPUs
  [[nodiscard]] bool sees_kernel() const { return parts_.sees_kernel; }
  void add_to(EngineStats& stats) const override;
  [[nodiscard]] std::vector<std::string> warnings() const override;
  // The program reads them, too.
  capture::JavaBottoms& bottoms() override { return *reinterpret_cast<capture::JavaBottoms*>(told_.data()); }

  bool thread_started(const JavaThread& thread) override;
  void thread_ended(const JavaThread& thread) override;
  [[nodiscard]] bool follows_jvm_threads() const override { return true; }

 private:
  KernelCapture(linux::KernelParts parts, linux::BpfRing ring, Mapping told, Nanos interval, size_t ring_bytes);
  static const capture::FragmentRecord& as_record(const uint8_t* record) {
    return *reinterpret_cast<const capture::FragmentRecord*>(record);
  }
  [[nodiscard]] std::atomic_ref<__u64> awake() {
    return std::atomic_ref(reinterpret_cast<linux::bpf::Told*>(told_.data())->awake);
  }
  const capture::FragmentRecord& adopt(uint32_t serial, uint8_t* record);

  const size_t ring_bytes_;
  linux::BpfRing ring_;
  Mapping told_;
  std::optional<linux::DrawnTicks> ticks_;  // nothing: they are somebody else's
  const linux::KernelParts parts_;          // without the ticks
  std::atomic<int64_t> not_followed_{0};
  StartingThreads starting_;
  uint64_t adopted_ = 0;  // samples of theirs
  std::vector<uint8_t> copy_;
};

}  // namespace tarsier::agent
