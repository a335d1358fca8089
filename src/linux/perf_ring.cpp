#include "linux/perf_ring.h"

#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "linux/perf_open.h"

namespace tarsier::linux {

PerfRing::PerfRing(unique_fd event, Mapping mapping, size_t page_bytes)
    : event_(std::move(event)),
      mapping_(std::move(mapping)),
      page_(reinterpret_cast<perf_event_mmap_page*>(mapping_.data())),
      data_(mapping_.data() + page_bytes),
      capacity_(mapping_.size() - page_bytes) {}

Result<PerfRing> PerfRing::open(int cpu, size_t capacity) {
  // An event that never happens: it only holds the ring, while those that write into it come and go.
  perf_event_attr attr;
  std::memset(&attr, 0, sizeof(attr));
  attr.size = sizeof(attr);
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_DUMMY;
  attr.exclude_kernel = attr.exclude_hv = 1;
  attr.use_clockid = 1;  // the same clock as of those that are directed here
  attr.clockid = CLOCK_MONOTONIC;
  attr.watermark = 1;  // who polls is woken when there is enough to do
  attr.wakeup_watermark = static_cast<__u32>(capacity / 4);
  unique_fd fd(open_perf_event(attr, 0, cpu));
  if (!fd) {
    const Errc code = errno == EPERM || errno == EACCES ? Errc::kNotPermitted : Errc::kFailed;
    return errno_error("perf_event_open for CPU " + std::to_string(cpu), errno, code);
  }
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  Mapping mapping = Mapping::of(fd.get(), page + capacity);
  if (!mapping) {
    const int err = errno;
    return errno_error("mapping a perf ring of " + std::to_string(capacity >> 10) + " KB", err,
                       err == EPERM ? Errc::kNotPermitted : Errc::kFailed);
  }
  return PerfRing(std::move(fd), std::move(mapping), page);
}

}  // namespace tarsier::linux
