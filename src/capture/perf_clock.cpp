#include "capture/perf_clock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

namespace tarsier::capture {
namespace {

uint64_t at_least_finest(uint64_t period) noexcept {
  return period < PerfClock::kFinest ? PerfClock::kFinest : period;
}

int fd_limit() noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > INT_MAX) return INT_MAX;
  return static_cast<int>(limit.rlim_cur);
}

bool is_pending(int signal) noexcept {
  sigset_t pending;
  return ::sigpending(&pending) == 0 && ::sigismember(&pending, signal) == 1;
}

int open_event(pid_t tid, bool kernel, uint64_t period) noexcept {
  perf_event_attr attr;
  std::memset(&attr, 0, sizeof(attr));
  attr.size = sizeof(attr);
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_CPU_CLOCK;
  attr.sample_period = period;
  attr.disabled = 1;
  attr.exclude_hv = 1;
  attr.exclude_kernel = kernel ? 0 : 1;
  attr.wakeup_events = 1;
  if (kernel) {
    attr.sample_type = PERF_SAMPLE_CALLCHAIN;
    attr.exclude_callchain_user = 1;
    attr.sample_max_stack = kMaxKernelFrames;
  }
  return static_cast<int>(::syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

}  // namespace

PerfClock::PerfClock(const Options& options) noexcept
    : options_(options),
      page_size_(static_cast<size_t>(::sysconf(_SC_PAGESIZE))),
      // A descriptor a thread is a lot, and the application must find its own as before: an eighth of them is ours at
      // most, and none once it has half of them open.
      highest_fd_(fd_limit() / 2),
      most_fds_(fd_limit() / 8) {}

int PerfClock::probe(bool kernel) noexcept {
  const int fd = open_event(0, kernel, 1'000'000'000);
  if (fd < 0) return errno;
  ::close(fd);
  return 0;
}

int PerfClock::start(pid_t tid, ThreadClock& thread) noexcept {
  thread.tid = tid;
  thread.random = (static_cast<uint64_t>(tid) << 32) ^ static_cast<uint64_t>(::time(nullptr)) ^ 0x9E3779B97F4A7C15ULL;
  if (fds_ >= most_fds_) return EMFILE;
  thread.fd = open_event(tid, options_.kernel, at_least_finest(draw_phase(options_.interval_ns, thread.random)));
  if (thread.fd < 0) return errno;
  ++fds_;
  if (thread.fd > highest_fd_) {
    stop(thread);
    return EMFILE;
  }
  // The first tick comes after a random part of the interval and stands for all of it: a thread too short for a whole
  // interval is seen with the probability, and so on average with the weight, of what it used.
  thread.period_ns = options_.interval_ns;
  thread.cpu_per_mille = kPerMille;
  begin_with_one_tick(thread);

  if (options_.kernel) {
    // Locked memory is limited for ordinary users: without a ring the thread is sampled all the same, just without
    // kernel frames.
    void* ring = ::mmap(nullptr, ring_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, thread.fd, 0);
    thread.ring = ring == MAP_FAILED ? nullptr : ring;
  }
  // The signal goes to the very thread. It is a standard signal, not a real-time one: when the kernel can't queue a
  // real-time signal it sends SIGIO instead, and that kills a process that does not expect it.
  f_owner_ex owner{F_OWNER_TID, tid};
  if (::fcntl(thread.fd, F_SETFL, O_ASYNC) != 0 || ::fcntl(thread.fd, F_SETSIG, options_.signal) != 0 ||
      ::fcntl(thread.fd, F_SETOWN_EX, &owner) != 0 || ::ioctl(thread.fd, PERF_EVENT_IOC_REFRESH, 1) != 0) {
    const int err = errno;
    stop(thread);
    return err;
  }
  return 0;
}

void PerfClock::stop(ThreadClock& thread) noexcept {
  // A tick that is still on its way finds no ring, and is not ours.
  void* const ring = std::exchange(thread.ring, nullptr);
  const int fd = std::exchange(thread.fd, -1);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (fd >= 0) ::ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
  if (ring != nullptr) ::munmap(ring, ring_bytes());
  if (fd < 0) return;
  ::close(fd);
  --fds_;
}

void PerfClock::quieten(ThreadClock& thread) noexcept {
  ::ioctl(thread.fd, PERF_EVENT_IOC_DISABLE, 0);
}

bool PerfClock::owns(const ThreadClock& thread, const siginfo_t& info) const noexcept {
  if (info.si_code > 0) return info.si_fd == thread.fd;  // POLL_IN, POLL_HUP
  // When the kernel has no memory for the details it delivers a standard signal without them.
  return info.si_code == SI_USER && info.si_pid == 0;
}

uint64_t PerfClock::weight_ns(ThreadClock& thread, const siginfo_t& info) noexcept {
  thread.hung_up = info.si_code == POLL_HUP;
  return thread.restless.spared ? weight_of_spared(thread) : thread.period_ns;
}

uint32_t PerfClock::kernel_frames(ThreadClock& thread, uint64_t* out) noexcept {
  if (thread.ring == nullptr) return 0;
  auto* page = static_cast<perf_event_mmap_page*>(thread.ring);
  const auto* data = static_cast<const uint8_t*>(thread.ring) + page_size_;
  const uint64_t mask = kRingPages * page_size_ - 1;
  const auto word = [&](uint64_t position) noexcept {
    uint64_t value;  // the kernel keeps 8 byte alignment, so a word never wraps
    std::memcpy(&value, data + (position & mask), sizeof(value));
    return value;
  };
  // The kernel writes data_head after the record; pairs with its barrier.
  const uint64_t head = std::atomic_ref<__u64>(page->data_head).load(std::memory_order_acquire);
  uint64_t position = page->data_tail;
  uint32_t count = 0;
  // There is one record a tick, seldom two. The last one is ours.
  for (int records = 0; position + 8 <= head && records < 64; ++records) {
    const uint64_t header = word(position);
    const auto type = static_cast<uint32_t>(header);
    const auto size = static_cast<uint16_t>(header >> 48);
    if (size < 8 || position + size > head) break;
    if (type == PERF_RECORD_SAMPLE && size >= 16) {
      count = 0;
      const uint64_t entries = word(position + 8);
      for (uint64_t i = 0; i < entries && 16 + 8 * i < size && count < kMaxKernelFrames; ++i) {
        const uint64_t ip = word(position + 16 + 8 * i);
        // Markers such as PERF_CONTEXT_KERNEL are small negative numbers.
        if (ip < PERF_CONTEXT_MAX) out[count++] = ip;
      }
    }
    position += size;
  }
  std::atomic_ref<__u64>(page->data_tail).store(head, std::memory_order_release);
  return count;
}

void PerfClock::rearm(ThreadClock& thread) noexcept {
  if (thread.restless.spared) return rearm_spared(thread);
  // acquire: pairs with the keeper.
  if (thread.restless.pace.load(std::memory_order_acquire) == Pace::kKept && spare(thread)) return;
  const bool was_one_shot = thread.one_shot;
  if (thread.batch_left > 1) {
    --thread.batch_left;
    if (!was_one_shot) {
      go_on(thread);
      return;
    }
  } else {
    look_for_restlessness(thread);
    begin_batch(thread);
  }
  if (thread.one_shot && !was_one_shot) {
    ::ioctl(thread.fd, PERF_EVENT_IOC_DISABLE, 0);
    // A tick that has come meanwhile asks for the next one, and one too many would never be used up.
    if (is_pending(options_.signal)) return;
  }
  // This starts the period anew also if the event is running.
  thread.period_ns = at_least_finest(draw_period(options_.interval_ns, thread.random));
  __u64 period = at_least_finest(thread.period_ns * kPerMille / thread.cpu_per_mille);
  thread.batch_ns += thread.one_shot ? period : thread.batch * period;
  ::ioctl(thread.fd, PERF_EVENT_IOC_PERIOD, &period);
  if (thread.one_shot) {
    ::ioctl(thread.fd, PERF_EVENT_IOC_REFRESH, 1);
  } else if (was_one_shot) {
    ::ioctl(thread.fd, PERF_EVENT_IOC_ENABLE, 0);
  } else {
    go_on(thread);
  }
}

// A keeper that had asked for a tick once too often, before it let go, has told the event to end with a later one.
void PerfClock::go_on(const ThreadClock& thread) noexcept {
  if (thread.restless.has_asked) ::ioctl(thread.fd, PERF_EVENT_IOC_ENABLE, 0);
}

void PerfClock::begin_with_one_tick(ThreadClock& thread) noexcept {
  thread.one_shot = true;
  thread.batch = kFirstBatch / 2;
  thread.batch_left = 1;
  thread.batch_began_ns = 0;
  thread.batch_ns = 0;
}

void PerfClock::begin_batch(ThreadClock& thread) const noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  const uint64_t cpu_ns = static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
  if (thread.batch_ns > 0) {
    const uint64_t per_mille = (cpu_ns - thread.batch_began_ns) * kPerMille / thread.batch_ns;
    if (options_.kernel) thread.cpu_per_mille = std::clamp(per_mille, kPerMille, 2 * kPerMille);
    owe(thread, cpu_ns, thread.batch);
    thread.one_shot = !thread.one_shot && per_mille > 3 * kPerMille;
  } else {
    thread.one_shot = false;
  }
  thread.batch_began_ns = cpu_ns;
  thread.batch_ns = 0;
  thread.batch = std::min(2 * thread.batch, kLargestBatch);
  thread.batch_left = thread.batch;
}

}  // namespace tarsier::capture
