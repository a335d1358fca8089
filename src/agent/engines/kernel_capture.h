// Stack fragments taken by the kernel: the eBPF program of capture/kernel_fragments.h, the ticks of all CPUs that run
// it, the threads that it knows and the ring that it writes. The application's threads get no signal.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "agent/thread_registry.h"
#include "base/result.h"
#include "base/units.h"
#include "capture/kernel_fragments.h"
#include "linux/bpf_program.h"
#include "linux/bpf_ring.h"
#include "linux/cpu_ticks.h"

namespace tarsier::agent {

class KernelCapture final : public ThreadListener {
 public:
  struct Options {
    Nanos interval;
    size_t ring_bytes = 0;    // a power of two, of whole pages
    bool old_kernel = false;  // for tests: do as on Linux before 5.15
  };
  // Asks the kernel for all that is needed; nothing ticks yet.
  static Result<std::unique_ptr<KernelCapture>> load(const hotspot::ThreadFields& fields, const Options& options);
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
  [[nodiscard]] capture::bpf::Counters counters() const;  // of all CPUs
  // False: ticks that hit in the kernel are dropped, as `registers unreadable`.
  [[nodiscard]] bool sees_kernel() const { return sees_kernel_; }
  [[nodiscard]] size_t ring_bytes() const { return options_.ring_bytes; }

  bool thread_started(const JavaThread& thread) override;
  void thread_ended(const JavaThread& thread) override;
  [[nodiscard]] int64_t threads_not_followed() const { return not_followed_.load(std::memory_order_relaxed); }

 private:
  KernelCapture(const Options& options, linux::BpfProgram program, linux::BpfRing ring, linux::CpuTicks ticks);
  Status draw_period(size_t index, Nanos now);

  const Options options_;
  bool sees_kernel_ = true;
  const linux::BpfProgram program_;
  const int threads_, periods_, counters_;  // descriptors of maps, the program's
  linux::BpfRing ring_;
  linux::CpuTicks ticks_;
  uint64_t random_;
  std::vector<Nanos> next_draw_;  // of each of the ticks; CLOCK_MONOTONIC
  std::atomic<int64_t> not_followed_{0};
};

}  // namespace tarsier::agent
