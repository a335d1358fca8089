#include "linux/perf_sample.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "linux/perf_open.h"

namespace tarsier::linux {
namespace {

// Registers by their numbers in asm/perf_regs.h.
#if defined(__aarch64__)
constexpr uint64_t kMask = (uint64_t{1} << 33) - 1;  // x0 to x30, sp, pc
constexpr size_t kSp = 31, kPc = 32;
#else
constexpr uint64_t kMask = 0x1ff | 0xff0000;  // rax to rsp, rip; r8 to r15
constexpr size_t kSp = 7, kPc = 8;
#endif

constexpr uint64_t kCountLost = 1U << 4;  // PERF_FORMAT_LOST: younger than the headers of Debian 12

// The words of a record, one after the other.
class Words {
 public:
  explicit Words(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  uint64_t next() {
    uint64_t word = 0;
    if (const auto bytes = take(sizeof(word)); !bytes.empty()) std::memcpy(&word, bytes.data(), sizeof(word));
    return word;
  }
  // The kernel aligns records, and all their parts, to 8.
  std::span<const uint64_t> several(uint64_t count) {
    if (count > bytes_.size() / sizeof(uint64_t)) {
      good_ = false;
      return {};
    }
    return {reinterpret_cast<const uint64_t*>(take(count * sizeof(uint64_t)).data()), static_cast<size_t>(count)};
  }
  std::span<const uint8_t> take(uint64_t size) {
    if (size > bytes_.size()) {
      good_ = false;
      return {};
    }
    const auto taken = bytes_.first(size);
    bytes_ = bytes_.subspan(size);
    return taken;
  }
  [[nodiscard]] bool good() const { return good_; }

 private:
  std::span<const uint8_t> bytes_;
  bool good_ = true;
};

perf_event_attr attributes(const PerfSampler::Options& options) {
  perf_event_attr attr;
  std::memset(&attr, 0, sizeof(attr));
  attr.size = sizeof(attr);
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_CPU_CLOCK;
  attr.sample_period = options.period_ns;
  attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
  attr.sample_regs_user = kMask;
  attr.sample_stack_user = options.stack_bytes;
  attr.read_format = options.count_lost ? kCountLost : 0;
  attr.disabled = 1;
  attr.exclude_hv = 1;
  attr.exclude_kernel = options.kernel ? 0 : 1;
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;
  attr.watermark = 1;
  attr.wakeup_watermark = 1;  // that of the ring's own event counts
  if (options.kernel) {
    attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
    attr.exclude_callchain_user = 1;
    attr.sample_max_stack = PerfSampler::kMaxKernelFrames;
  }
  return attr;
}

int open_event(const PerfSampler::Options& options) {
  perf_event_attr attr = attributes(options);
  return open_perf_event(attr, options.thread, options.cpu);
}

}  // namespace

std::optional<PerfSample> PerfSample::parse(std::span<const uint8_t> body, bool kernel) {
  Words words(body);
  PerfSample sample;
  sample.event = words.next();
  sample.time_ns = words.next();
  if (kernel) sample.kernel = words.several(words.next());
  constexpr uint64_t kNoRegisters = 0;  // PERF_SAMPLE_REGS_ABI_NONE
  if (words.next() != kNoRegisters) {
    const auto registers = words.several(kRegisters);
    if (!words.good()) return std::nullopt;
    sample.general = registers;
    sample.pc = registers[kPc];
    sample.sp = registers[kSp];
  }
  if (const uint64_t room = words.next(); room != 0) {
    const auto stack = words.take(room);
    const uint64_t size = words.next();
    if (!words.good() || size > room) return std::nullopt;
    sample.stack = stack.first(size);
  }
  if (!words.good()) return std::nullopt;
  return sample;
}

int PerfSampler::probe(const Options& options) {
  return unique_fd(open_event(options)) ? 0 : errno;
}

std::pair<PerfSampler, int> PerfSampler::open(const Options& options, int ring) {
  PerfSampler sampler;
  sampler.event_.reset(open_event(options));
  if (!sampler.event_) return {PerfSampler(), errno};
  const int fd = sampler.event_.get();
  if (::ioctl(fd, PERF_EVENT_IOC_ID, &sampler.id_) != 0 || ::ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring) != 0 ||
      ::ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) != 0) {
    return {PerfSampler(), errno};
  }
  return {std::move(sampler), 0};
}

void PerfSampler::set_period(uint64_t period_ns) const noexcept {
  __u64 period = period_ns;
  ::ioctl(event_.get(), PERF_EVENT_IOC_PERIOD, &period);  // else it ticks on as before
}

void PerfSampler::disable() const noexcept {
  ::ioctl(event_.get(), PERF_EVENT_IOC_DISABLE, 0);
}

std::optional<uint64_t> PerfSampler::lost() const noexcept {
  uint64_t values[2] = {};
  if (::read(event_.get(), values, sizeof(values)) != sizeof(values)) return std::nullopt;
  return values[1];
}

}  // namespace tarsier::linux
