#include "agent/engines/ring_capture.h"

#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <climits>
#include <cstring>

#include "base/clock.h"
#include "capture/clock.h"
#include "capture/field.h"
#include "capture/stack_extent.h"
#include "linux/cpus.h"

namespace tarsier::agent {
namespace {

using linux::PerfRing;
using linux::PerfSample;
using linux::PerfSampler;

// Room for some samples of the largest size.
constexpr size_t kSmallestRing = 256 << 10, kLargestRing = 8 << 20;
// Kernel memory of some 1.5 KB each.
constexpr size_t kMostEvents = 1 << 15;

int fd_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > INT_MAX) return INT_MAX;
  return static_cast<int>(limit.rlim_cur);
}

// All of the same size: the largest up to `wanted` for which there is locked memory.
Result<std::vector<PerfRing>> open_rings(const std::vector<int>& cpus, size_t wanted) {
  for (size_t size = std::clamp(std::bit_floor(wanted), kSmallestRing, kLargestRing);; size /= 2) {
    std::vector<PerfRing> rings;
    Error error;
    for (const int cpu : cpus) {
      auto ring = PerfRing::open(cpu, size);
      if (!ring) {
        error = std::move(ring).error();
        break;
      }
      rings.push_back(std::move(*ring));
    }
    if (rings.size() == cpus.size()) return rings;
    if (error.code != Errc::kNotPermitted || size == kSmallestRing) {
      error.what += " (locked memory is limited by kernel.perf_event_mlock_kb and by ulimit -l)";
      return error;
    }
  }
}

PerfSampler::Options lost_probe(int cpu) {
  PerfSampler::Options options;
  options.cpu = cpu;
  options.count_lost = true;
  return options;
}

void copy_registers(const PerfSample& sample, hotspot::Fragment& out) {
  out.pc = sample.pc;
  out.sp = sample.sp;
#if defined(__aarch64__)
  std::memcpy(out.general, sample.general.data(), sizeof(out.general));
  out.fp = out.general[29];
#else
  // Between the two halves of the general ones lies rip.
  constexpr size_t kHalf = 8;
  std::memcpy(out.general, sample.general.data(), kHalf * sizeof(uint64_t));
  std::memcpy(out.general + kHalf, sample.general.data() + kHalf + 1, kHalf * sizeof(uint64_t));
  out.fp = out.general[6];
#endif
}

}  // namespace

Result<std::unique_ptr<RingCapture>> RingCapture::open(const hotspot::ThreadFields& fields, const Options& options) {
  std::vector<int> cpus = linux::online_cpus();
  if (cpus.empty()) return Error{Errc::kFailed, "no CPU is online by /sys/devices/system/cpu/online"};
  auto rings = open_rings(cpus, options.perf_ring_bytes / cpus.size());
  if (!rings) return std::move(rings).error();
  std::unique_ptr<RingCapture> capture(new RingCapture(fields, options, std::move(cpus), std::move(*rings)));
  if (!capture->memory_) return Error{Errc::kFailed, "no memory for the sample ring"};
  return capture;
}

RingCapture::RingCapture(const hotspot::ThreadFields& fields, const Options& options, std::vector<int> cpus,
                         std::vector<PerfRing> rings)
    : fields_(fields),
      options_(options),
      cpus_(std::move(cpus)),
      // The application must find its descriptors as before: an eighth of them is ours at most, and none once it has
      // half of them open.
      highest_fd_(fd_limit() / 2),
      most_events_(std::min<size_t>(kMostEvents, static_cast<size_t>(fd_limit()) / 8)),
      count_lost_(PerfSampler::probe(lost_probe(cpus_.front())) == 0),
      rings_(std::move(rings)),
      memory_(options.ring_bytes),
      ring_(memory_.data(), memory_.size(), capture::FragmentCapture::kGrain) {}

RingCapture::~RingCapture() {
  silence();
  mover_.stop();
}

Status RingCapture::start() {
  see_epoch();
  if (const int err = mover_.start(run, this, "tarsier-rings")) return errno_error("starting a thread", err);
  return {};
}

void* RingCapture::run(void* self) {
  auto& capture = *static_cast<RingCapture*>(self);
  // So long at most: what a sample points to may go away while it waits.
  constexpr int kPatienceMs = 10;
  std::vector<pollfd> fds;
  survive([&] {
    for (const PerfRing& ring : capture.rings_) fds.push_back({ring.fd(), POLLIN, 0});
  });
  while (!capture.mover_.must_stop()) {
    (void)::poll(fds.data(), fds.size(), kPatienceMs);
    survive([&] { capture.look(); });
  }
  return nullptr;
}

void RingCapture::see_epoch() {
  const std::lock_guard guard(lock_);
  ++looks_;
  const uint64_t epoch = epoch_now();  // not later than the time that is read next
  epochs_.saw(static_cast<uint64_t>(monotonic_now().count), epoch);
}

void RingCapture::look() {
  see_epoch();
  for (PerfRing& ring : rings_) {
    ring.consume([this](const perf_event_header& header, std::span<const uint8_t> body) { visit(header, body); });
  }
  const std::lock_guard guard(lock_);
  forget_closed();
}

void RingCapture::visit(const perf_event_header& header, std::span<const uint8_t> body) {
  const std::lock_guard guard(lock_);
  switch (header.type) {
    case PERF_RECORD_SAMPLE:
      if (const auto sample = PerfSample::parse(body, options_.kernel)) {
        take(*sample);
      } else {
        ++counts_.not_understood;
      }
      break;
    case PERF_RECORD_LOST: {
      uint64_t lost[2] = {};  // of which event, and how many
      if (body.size() >= sizeof(lost)) std::memcpy(lost, body.data(), sizeof(lost));
      counts_.lost += lost[1];
      break;
    }
    case PERF_RECORD_THROTTLE:
      ++counts_.throttled;
      break;
    default:
      break;
  }
}

void RingCapture::take(const PerfSample& sample) {
  const auto owner = owners_.find(sample.event);
  if (owner == owners_.end()) {
    ++counts_.not_understood;
    return;
  }
  const std::shared_ptr<Thread> thread = owner->second.thread;
  Event& event = thread->events[owner->second.cpu];
  if (sample.general.empty()) {
    ++counts_.no_registers;
    return;
  }
  const uint64_t bottom = bottoms_->of(thread->serial);
  const capture::StackExtent extent{thread->stack_base != 0 ? thread->stack_base : bottom, bottom, 0,
                                    thread->stack_lowest};
  const uint64_t needed = extent.bytes_from(sample.sp);
  ++(move(sample, *thread, event.period_ns, needed) ? counts_.moved : counts_.no_room);
  if (silent_ || !event.sampler) return;
  usual_.needs(needed);
  if (thread->demand.needs(needed)) {
    adapt(thread);
  } else if (++event.ticks >= 400) {
    // A new period lets the timer start anew, and half a period on average goes without a tick: one in 800 is no loss.
    draw_period(*thread, event);
    event.sampler.set_period(event.period_ns);
  }
}

bool RingCapture::move(const PerfSample& sample, const Thread& thread, uint64_t weight_ns, uint64_t needed) {
  uint64_t kernel[capture::kMaxKernelFrames];
  size_t kernel_count = 0;
  for (const uint64_t address : sample.kernel) {
    // Marks such as PERF_CONTEXT_KERNEL are small negative numbers.
    if (address < PERF_CONTEXT_MAX && kernel_count < capture::kMaxKernelFrames) kernel[kernel_count++] = address;
  }
  hotspot::Fragment fragment{};
  copy_registers(sample, fragment);
  fragment.thread_state = thread.stack_base != 0 ? hotspot::kThreadStateUnknown : hotspot::kThreadInNative;
  const SeenEpochs::Between epoch = epochs_.at(sample.time_ns, epoch_now());
  fragment.epoch = epoch.epoch;
  fragment.late_epochs = epoch.doubt;
  const uint64_t most =
      ring_.used() < ring_.capacity() / 2 ? sample.stack.size() : uint64_t{capture::FragmentCapture::kMaxStack};
  fragment.stack_bytes = static_cast<uint32_t>(std::min({needed, most, uint64_t{sample.stack.size()}})) & ~7U;
  fragment.cut = needed > fragment.stack_bytes;

  capture::SampleHeader header{};
  header.time_ns = sample.time_ns;
  header.weight_ns = weight_ns;
  header.thread = thread.serial;
  header.kernel_count = static_cast<uint16_t>(kernel_count);
  const size_t kernel_bytes = kernel_count * sizeof(uint64_t);
  uint8_t* out = ring_.reserve(sizeof(header) + kernel_bytes + sizeof(fragment) + fragment.stack_bytes);
  if (out == nullptr) return false;
  uint8_t* at = out;
  const auto put = [&at](const void* bytes, size_t size) {
    if (size != 0) std::memcpy(at, bytes, size);
    at += size;
  };
  put(&header, sizeof(header));
  put(kernel, kernel_bytes);
  put(&fragment, sizeof(fragment));
  put(sample.stack.data(), fragment.stack_bytes);
  ring_.commit(out);
  return true;
}

bool RingCapture::thread_started(const JavaThread& thread) {
  const std::lock_guard guard(lock_);
  if (silent_) return true;
  auto followed = std::make_shared<Thread>();
  followed->tid = thread.tid;
  followed->serial = thread.serial;
  if (!thread.is_of_jvm()) {
    followed->stack_base = capture::field<uint64_t>(thread.java_thread, fields_.stack_base);
    if (fields_.stack_size != 0) {
      followed->stack_lowest = followed->stack_base - capture::field<uint64_t>(thread.java_thread, fields_.stack_size);
    }
  }
  followed->random = (static_cast<uint64_t>(thread.tid) << 32) ^ static_cast<uint64_t>(monotonic_now().count) ^ 1;
  followed->demand.set_size(usual_.size());
  followed->events.resize(cpus_.size());
  for (Event& event : followed->events) draw_period(*followed, event);
  if (const int err = open_events(followed)) {
    ++not_followed_;
    last_error_ = err;
    return false;
  }
  threads_[thread.tid] = std::move(followed);
  return true;
}

void RingCapture::thread_ended(const JavaThread& thread) {
  const std::lock_guard guard(lock_);
  const auto it = threads_.find(thread.tid);
  if (it == threads_.end()) return;
  close_events(*it->second);
  threads_.erase(it);
}

int RingCapture::open_events(const std::shared_ptr<Thread>& thread) {
  if (open_events_ + cpus_.size() > most_events_) return EMFILE;
  for (size_t i = 0; i < cpus_.size(); ++i) {
    PerfSampler::Options options;
    options.thread = thread->tid;
    options.cpu = cpus_[i];
    options.period_ns = thread->events[i].period_ns;
    options.stack_bytes = thread->demand.size();
    options.kernel = options_.kernel;
    options.count_lost = count_lost_;
    auto [sampler, err] = PerfSampler::open(options, rings_[i].fd());
    if (err == ENODEV) continue;  // this CPU went offline in the meantime
    if (err == 0 && sampler.fd() >= highest_fd_) err = EMFILE;
    if (err != 0) {
      close_events(*thread);
      return err;
    }
    owners_[sampler.id()] = {thread, i};
    thread->events[i].sampler = std::move(sampler);
    ++open_events_;
  }
  return 0;
}

void RingCapture::close_events(Thread& thread) {
  for (Event& event : thread.events) {
    if (!event.sampler) continue;
    event.sampler.disable();
    lost_of_closed_ += event.sampler.lost().value_or(0);
    closed_.push_back({event.sampler.id(), looks_});
    event.sampler = {};
    --open_events_;
  }
}

void RingCapture::adapt(const std::shared_ptr<Thread>& thread) {
  close_events(*thread);
  if (const int err = open_events(thread)) {
    ++not_followed_;
    last_error_ = err;
  }
}

// Each event has a period of its own, so threads are out of phase from the start on. It keeps it for a number of ticks,
// not for a time: the mean of the periods is then the mean time between samples.
void RingCapture::draw_period(Thread& thread, Event& event) const {
  event.period_ns = std::max(PerfSampler::kFinestNs,
                             capture::draw_period(static_cast<uint64_t>(options_.interval.count), thread.random));
  event.ticks = 0;
}

void RingCapture::forget_closed() {
  std::erase_if(closed_, [this](const Closed& closed) {
    if (closed.look == looks_) return false;
    owners_.erase(closed.id);
    return true;
  });
}

uint64_t RingCapture::epoch_now() const {
  // The JVM's counters may be gone with it.
  if (silent_) return last_epoch_;
  if (fields_.unloaded == nullptr) return 0;
  // The JVM writes them now and then, as it likes.
  const auto load = [](const volatile uint64_t* counter) {
    return std::atomic_ref(*const_cast<uint64_t*>(counter)).load(std::memory_order_relaxed);
  };
  return load(fields_.unloaded) + load(fields_.unloaded_shared);
}

void RingCapture::silence() noexcept {
  const std::lock_guard guard(lock_);
  if (silent_) return;
  last_epoch_ = epoch_now();
  silent_ = true;
  for (const auto& [tid, thread] : threads_) {
    for (const Event& event : thread->events) {
      if (event.sampler) event.sampler.disable();
    }
  }
}

size_t RingCapture::consume(const Visit& visit, size_t at_most) {
  return ring_.consume(
      [&](const uint8_t* record, size_t) { visit(*reinterpret_cast<const capture::FragmentRecord*>(record)); },
      at_most);
}

void RingCapture::finish() {
  mover_.stop();
  look();
  const std::lock_guard guard(lock_);
  for (const auto& [tid, thread] : threads_) close_events(*thread);
  threads_.clear();
  // The events know better: what was lost last is not in the rings.
  if (count_lost_) counts_.lost = lost_of_closed_;
}

void RingCapture::add_to(EngineStats& stats) const {
  const std::lock_guard guard(lock_);
  stats.dropped[capture::kDropNames[static_cast<size_t>(capture::Drop::kRingFull)]] = counts_.no_room;
  stats.dropped["perf ring full"] = counts_.lost;
  stats.dropped["registers unreadable"] = counts_.no_registers;
  stats.dropped["record not understood"] = counts_.not_understood;
  stats.taken = counts_.moved + counts_.no_room + counts_.lost + counts_.no_registers + counts_.not_understood;
  size_t memory = memory_.size();
  for (const PerfRing& ring : rings_) memory += ring.capacity();
  stats.memory = Bytes(static_cast<int64_t>(memory));
  stats.counters["threads without a clock"] = not_followed_;
  stats.counters["bytes of a perf ring"] = static_cast<int64_t>(rings_.front().capacity());
  stats.counters["times that the kernel held clocks back"] = static_cast<int64_t>(counts_.throttled);
}

std::vector<std::string> RingCapture::warnings() const {
  const std::lock_guard guard(lock_);
  std::vector<std::string> warnings;
  if (not_followed_ > 0) {
    warnings.push_back(std::to_string(not_followed_) + " threads are not sampled: each takes " +
                       std::to_string(cpus_.size()) + " perf events (" + errno_text(last_error_) + ")");
  }
  if (counts_.throttled > 0) {
    warnings.push_back("the kernel has held clocks back " + std::to_string(counts_.throttled) +
                       " times: kernel.perf_event_max_sample_rate is too low for this interval");
  }
  return warnings;
}

}  // namespace tarsier::agent
