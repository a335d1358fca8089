// The software clock of every CPU, each with an eBPF program that runs at its ticks, whoever runs there.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace tarsier::linux {

// The clock of one CPU.
struct CpuTick {
  int cpu;
  unique_fd event;
};

class CpuTicks {
 public:
  // Below this the kernel rounds up.
  static constexpr uint64_t kFinestNs = 10'000;

  // CPUs that come later do not tick. None does before enable().
  static Result<std::vector<CpuTick>> open(const std::vector<int>& cpus, int program);
  // Whoever has opened them: no right is needed any more.
  explicit CpuTicks(std::vector<CpuTick> events) : events_(std::move(events)) {}

  [[nodiscard]] size_t size() const { return events_.size(); }
  [[nodiscard]] int cpu(size_t index) const { return events_[index].cpu; }
  // From now on. What has passed of the old period is forgotten.
  Status set_period(size_t index, uint64_t period_ns);
  Status enable();
  // Any thread. No program runs any more when it returns.
  void disable() const noexcept;

 private:
  std::vector<CpuTick> events_;
};

}  // namespace tarsier::linux
