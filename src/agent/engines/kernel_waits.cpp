#include "agent/engines/kernel_waits.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "agent/engines/kernel_capture.h"
#include "base/clock.h"
#include "linux/bpf_map.h"
#include "linux/cpus.h"
#include "linux/kernel_parts.h"
#include "linux/procfs.h"

namespace tarsier::agent {
namespace {

using linux::bpf::WaitCounters;
using linux::bpf::WaitingThread;
using recording::TimePart;

constexpr size_t kOwnRing = 1 << 20;

Nanos nanos(uint64_t ns) {
  return Nanos(static_cast<int64_t>(ns));
}

bool sleeps(const WaitingThread& thread) {
  return thread.since != 0 && thread.asleep != 0 && thread.woken == 0;
}

}  // namespace

KernelWaits::KernelWaits(const WaitLimits& limits, linux::WaitParts parts, linux::BpfRing ring, size_t ring_bytes,
                         const hotspot::ThreadFields& fields, const hotspot::VirtualThreadLayout* virtual_threads)
    : limits_(limits),
      ring_bytes_(ring_bytes),
      ring_(std::move(ring)),
      parts_(std::move(parts)),
      own_(kOwnRing),
      copy_(fields, virtual_threads, own_.bottoms(), own_.ring()) {}

Result<std::unique_ptr<KernelWaits>> KernelWaits::make(const WaitLimits& limits, const hotspot::ThreadFields& fields,
                                                       const hotspot::VirtualThreadLayout* virtual_threads,
                                                       size_t ring_bytes) {
  linux::bpf::WaitSettings settings{};
  settings.thread = KernelCapture::settings_for(fields, virtual_threads);
  if (Status status = linux::aim_at(settings.thread, "/proc/self"); !status) return std::move(status).error();
  settings.pending_monitor = fields.pending_monitor;
  settings.min_ns = static_cast<uint64_t>(limits.min.count);
  settings.max_ns = static_cast<uint64_t>(limits.max.count);
  auto parts = linux::make_wait_parts(settings, ring_bytes);
  if (!parts) return std::move(parts).error();
  auto ring = linux::BpfRing::map(parts->ring.get(), ring_bytes);
  if (!ring) return std::move(ring).error();
  std::unique_ptr<KernelWaits> waits(
      new KernelWaits(limits, std::move(*parts), std::move(*ring), ring_bytes, fields, virtual_threads));
  if (!waits->own_.has_memory()) return Error{Errc::kFailed, "no memory for the ring of waits"};
  return waits;
}

bool KernelWaits::read(pid_t tid, WaitingThread& out) const {
  return linux::find_in_bpf_map(parts_.threads.get(), &tid, &out) == 0;
}

bool KernelWaits::thread_started(const JavaThread& thread) {
  const auto cpu = linux::thread_cpu_time(thread.tid);
  if (!cpu) return true;  // gone already
  WaitingThread known{};
  known.java_thread = reinterpret_cast<uintptr_t>(thread.java_thread);
  known.serial = thread.serial;
  if (linux::set_in_bpf_map(parts_.threads.get(), &thread.tid, &known) != 0) {
    not_followed_.fetch_add(1, std::memory_order_relaxed);
    return true;  // its CPU time may still be sampled
  }
  const std::lock_guard guard(lock_);
  entries_[thread.tid] = {{thread.tid, thread.serial, thread.java_thread, 0}, monotonic_now(), *cpu, {}};
  return true;
}

// Those that sleep already: the kernel's programs have not seen them go, and will not see them come. They are told, and
// find them on their way back from the system call.
Status KernelWaits::start() {
  std::vector<Sleeper> sleepers;
  {
    const std::lock_guard guard(lock_);
    for (const auto& [tid, entry] : entries_) sleepers.push_back(entry.sleeper);
  }
  for (const Sleeper& sleeper : sleepers) say_that_it_sleeps(sleeper);
  return {};
}

void KernelWaits::say_that_it_sleeps(const Sleeper& sleeper) {
  const auto before = linux::thread_cpu_time(sleeper.tid);
  const char state = linux::thread_state(sleeper.tid);
  WaitingThread thread{};
  if (state != 'S' && state != 'D') return;
  const std::lock_guard guard(lock_);
  if (entries_.count(sleeper.tid) == 0 || !read(sleeper.tid, thread) || thread.task != 0 || thread.since != 0) return;
  thread.since = static_cast<uint64_t>(monotonic_now().count);
  thread.asleep = thread.from_before = thread.in_call = 1;
  (void)linux::set_in_bpf_map(parts_.threads.get(), &sleeper.tid, &thread);
  if (linux::thread_cpu_time(sleeper.tid) == before) return;
  thread.since = thread.asleep = thread.from_before = 0;  // it had just come back
  (void)linux::set_in_bpf_map(parts_.threads.get(), &sleeper.tid, &thread);
}

void KernelWaits::stop() noexcept {
  const std::lock_guard guard(attached_lock_);
  parts_.attached.clear();
}

size_t KernelWaits::consume(const Visit& visit, size_t at_most) {
  const size_t count = ring_.consume(
      [&](const uint8_t* record, size_t) { visit(*reinterpret_cast<const capture::FragmentRecord*>(record)); },
      at_most);
  return count + own_.consume(visit, at_most - count);
}

ThreadTimes KernelWaits::times_of(Entry& entry, const WaitingThread& thread, Nanos open) {
  ThreadTimes times;
  times.serial = entry.sleeper.serial;
  const auto cpu = linux::thread_cpu_time(entry.sleeper.tid);
  if (cpu) entry.cpu = *cpu - entry.cpu_at_start;
  times.of(TimePart::kCpu).time = entry.cpu;
  const auto set = [&](TimePart part, const linux::bpf::TimeSum& sum) { times.of(part) = {nanos(sum.ns), sum.count}; };
  set(TimePart::kQueue, thread.queue);
  set(TimePart::kWaits, thread.written);
  set(TimePart::kShortWaits, thread.shorter);
  set(TimePart::kLongWaits, thread.longer);
  set(TimePart::kMissedWaits, thread.missed);
  if (open.count > 0) times.of(TimePart::kOpenWait) = {open, 1};
  if (!cpu) return times;  // gone without a word, nobody knows when
  // What the programs have not seen, whatever the reason, is not lost.
  Nanos rest = monotonic_now() - entry.started;
  for (const WaitAccount::Sum& part : times.parts) rest -= part.time;
  if (rest.count > 0) times.of(TimePart::kMissedWaits).time += rest;
  return times;
}

void KernelWaits::erase(pid_t tid, uint64_t task) const {
  (void)linux::erase_in_bpf_map(parts_.threads.get(), &tid);
  if (task != 0) (void)linux::erase_in_bpf_map(parts_.tasks.get(), &task);
}

void KernelWaits::thread_ended(const JavaThread& thread) {
  const std::lock_guard guard(lock_);
  const auto it = entries_.find(thread.tid);
  if (it == entries_.end()) return;
  WaitingThread last{};
  if (read(thread.tid, last)) ended_.push_back(times_of(it->second, last, Nanos(0)));
  erase(thread.tid, last.task);
  entries_.erase(it);
}

bool KernelWaits::close_one() {
  const std::lock_guard guard(lock_);
  if (entries_.empty()) return false;
  Entry entry = entries_.begin()->second;
  entries_.erase(entries_.begin());
  WaitingThread thread{};
  const pid_t tid = entry.sleeper.tid;
  if (!read(tid, thread)) return true;
  const Nanos length = sleeps(thread) ? monotonic_now() - nanos(thread.since) : Nanos(0);
  if (length.count > 0) {
    const WaitAccount::Wait wait{nanos(thread.since), length, thread.from_before != 0};
    const auto cpu = linux::thread_cpu_time(tid);
    const auto still_asleep = [&] { return linux::thread_cpu_time(tid) == cpu; };
    linux::bpf::TimeSum* sum = &thread.missed;
    if (length < limits_.min) {
      sum = &thread.shorter;
    } else if (limits_.max.count != 0 && length > limits_.max) {
      sum = &thread.longer;
    } else {
      ++own_taken_;
      const bool written =
          linux::thread_state(tid) != 'R' &&
          copy_.copy(entry.sleeper, monotonic_now(), length, still_asleep) == SleeperCopy::Outcome::kCopied &&
          own_.write_end(entry.sleeper.serial, wait, true);
      if (written) {
        sum = &thread.written;
      } else {
        ++own_missed_;
      }
    }
    sum->ns += static_cast<uint64_t>(length.count);
    sum->count += 1;
  }
  ended_.push_back(times_of(entry, thread, Nanos(0)));
  erase(tid, thread.task);
  return true;
}

std::vector<ThreadTimes> KernelWaits::changed_times() {
  const std::lock_guard guard(lock_);
  std::vector<ThreadTimes> changed = std::exchange(ended_, {});
  const Nanos now = monotonic_now();
  for (auto& [tid, entry] : entries_) {
    WaitingThread thread{};
    if (!read(tid, thread)) continue;
    const uint64_t mark = thread.queue.ns + thread.written.count + thread.shorter.count + thread.longer.count +
                          thread.missed.count + thread.since;
    if (std::exchange(entry.told, mark + 1) == mark + 1) continue;
    changed.push_back(times_of(entry, thread, sleeps(thread) ? now - nanos(thread.since) : Nanos(0)));
  }
  return changed;
}

void KernelWaits::add_to(EngineStats& stats) {
  std::vector<WaitCounters> of_cpus(linux::possible_cpus());
  const uint32_t key = 0;
  WaitCounters sum{};
  if (linux::find_in_bpf_map(parts_.counters.get(), &key, of_cpus.data()) == 0) {
    for (const WaitCounters& cpu : of_cpus) {
      sum.taken += cpu.taken;
      sum.in_fault += cpu.in_fault;
      sum.ring_full += cpu.ring_full;
      sum.thread_unreadable += cpu.thread_unreadable;
      sum.stack_unreadable += cpu.stack_unreadable;
      sum.ns += cpu.ns;
    }
  }
  stats.taken = sum.taken + own_taken_;
  stats.dropped["in a page fault"] = sum.in_fault;
  stats.dropped[capture::kDropNames[static_cast<size_t>(capture::Drop::kRingFull)]] = sum.ring_full;
  stats.dropped["thread unreadable"] = sum.thread_unreadable;
  stats.dropped["stack unreadable"] = sum.stack_unreadable;
  stats.dropped["over before the stack was read"] = own_missed_;
  stats.in_app_threads = nanos(sum.ns);
  stats.memory = Bytes(static_cast<int64_t>(ring_bytes_ + own_.bytes()));
  stats.counters["threads not followed"] = not_followed_.load(std::memory_order_relaxed);
}

}  // namespace tarsier::agent
