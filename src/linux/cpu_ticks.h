// The software clock of every CPU, each with an eBPF program that runs at its ticks, whoever runs there.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace tarsier::linux {

class CpuTicks {
 public:
  // Below this the kernel rounds up.
  static constexpr uint64_t kFinestNs = 10'000;

  // Asks for nothing but the right to do so; CPUs that come later do not tick. They do not tick before enable().
  static Result<CpuTicks> open(const std::vector<int>& cpus, int program);

  [[nodiscard]] size_t size() const { return events_.size(); }
  [[nodiscard]] int cpu(size_t index) const { return events_[index].cpu; }
  // From now on. What has passed of the old period is forgotten.
  Status set_period(size_t index, uint64_t period_ns);
  Status enable();
  // Any thread. No program runs any more when it returns.
  void disable() const noexcept;

 private:
  struct Event {
    int cpu;
    unique_fd fd;
  };
  std::vector<Event> events_;
};

}  // namespace tarsier::linux
