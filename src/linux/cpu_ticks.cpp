#include "linux/cpu_ticks.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>

#include <cerrno>
#include <cstring>

#include "linux/perf_open.h"

namespace tarsier::linux {
namespace {

int open_event(int cpu) {
  perf_event_attr attr;
  std::memset(&attr, 0, sizeof(attr));
  attr.size = sizeof(attr);
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_CPU_CLOCK;
  attr.sample_period = 1'000'000'000;
  attr.disabled = 1;
  attr.exclude_hv = 1;
  attr.exclude_idle = 1;
  return open_perf_event(attr, -1, cpu);
}

}  // namespace

Result<std::vector<CpuTick>> CpuTicks::open(const std::vector<int>& cpus, int program) {
  std::vector<CpuTick> ticks;
  for (const int cpu : cpus) {
    unique_fd fd(open_event(cpu));
    if (!fd && errno == ENODEV) continue;  // it went offline in the meantime
    if (!fd) {
      const Errc code = errno == EPERM || errno == EACCES ? Errc::kNotPermitted : Errc::kFailed;
      return errno_error("perf_event_open for CPU " + std::to_string(cpu), errno, code);
    }
    if (::ioctl(fd.get(), PERF_EVENT_IOC_SET_BPF, program) != 0) {
      return errno_error("attaching the eBPF program to the clock of CPU " + std::to_string(cpu), errno);
    }
    ticks.push_back({cpu, std::move(fd)});
  }
  if (ticks.empty()) return Error{Errc::kFailed, "no CPU is online by /sys/devices/system/cpu/online"};
  return ticks;
}

Status CpuTicks::set_period(size_t index, uint64_t period_ns) {
  __u64 period = period_ns;
  if (::ioctl(events_[index].event.get(), PERF_EVENT_IOC_PERIOD, &period) == 0) return {};
  return errno_error("setting the period of CPU " + std::to_string(cpu(index)), errno);
}

Status CpuTicks::enable() {
  for (const CpuTick& tick : events_) {
    if (::ioctl(tick.event.get(), PERF_EVENT_IOC_ENABLE, 0) != 0) {
      return errno_error("starting the clock of CPU " + std::to_string(tick.cpu), errno);
    }
  }
  return {};
}

void CpuTicks::disable() const noexcept {
  for (const CpuTick& tick : events_) ::ioctl(tick.event.get(), PERF_EVENT_IOC_DISABLE, 0);
}

}  // namespace tarsier::linux
