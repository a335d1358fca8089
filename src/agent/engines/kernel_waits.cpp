#include "agent/engines/kernel_waits.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "agent/engines/kernel_capture.h"
#include "base/clock.h"
#include "linux/bpf_map.h"
#include "linux/bpf_program.h"
#include "linux/cpus.h"
#include "linux/kernel_parts.h"
#include "linux/procfs.h"

namespace tarsier::agent {
namespace {

using linux::bpf::WaitCounters;
using linux::bpf::WaitingThread;
using recording::TimePart;

constexpr size_t kOwnRing = 1 << 20;
constexpr size_t kSmall = 0, kMiddle = 1;  // indices of WaitParts::copies

Nanos nanos(uint64_t ns) {
  return Nanos(static_cast<int64_t>(ns));
}

bool sleeps(const WaitingThread& thread) {
  return thread.since != 0 && thread.asleep != 0 && thread.woken == 0;
}

WaitAccount::Sum sum_of(const linux::bpf::TimeSum& seen, const WaitAccount::Sum& apart) {
  return {nanos(seen.ns) + apart.time, seen.count + apart.count};
}

}  // namespace

KernelWaits::KernelWaits(const WaitLimits& limits, linux::WaitParts parts, linux::BpfRing ring, Mapping bottoms,
                         const linux::WaitMemory& memory, const hotspot::ThreadFields& fields,
                         const hotspot::VirtualThreadLayout* virtual_threads)
    : limits_(limits),
      memory_(memory),
      fields_(fields),
      ring_(std::move(ring)),
      bottoms_(std::move(bottoms)),
      parts_(std::move(parts)),
      own_(kOwnRing),
      copy_(fields, virtual_threads, this->bottoms(), own_.ring()),
      nothing_(linux::bpf::kLargeCopy) {}

Result<std::unique_ptr<KernelWaits>> KernelWaits::make(const WaitLimits& limits, const hotspot::ThreadFields& fields,
                                                       const hotspot::VirtualThreadLayout* virtual_threads,
                                                       const linux::WaitMemory& memory) {
  linux::bpf::Settings settings{};
  settings.java = KernelCapture::layout_of(fields, virtual_threads);
  if (Status status = linux::aim_at(settings, "/proc/self"); !status) return std::move(status).error();
  settings.min_wait_ns = static_cast<uint64_t>(limits.min.count);
  settings.max_wait_ns = static_cast<uint64_t>(limits.max.count);
  auto parts = linux::make_wait_parts(settings, memory);
  if (!parts) return std::move(parts).error();
  return over(std::move(*parts), limits, fields, virtual_threads, memory);
}

Result<std::unique_ptr<KernelWaits>> KernelWaits::over(linux::WaitParts parts, const WaitLimits& limits,
                                                       const hotspot::ThreadFields& fields,
                                                       const hotspot::VirtualThreadLayout* virtual_threads,
                                                       const linux::WaitMemory& memory) {
  auto ring = linux::BpfRing::map(parts.ring.get(), memory.ring);
  if (!ring) return std::move(ring).error();
  Mapping bottoms = Mapping::of(parts.bottoms.get(), sizeof(linux::bpf::Told));
  if (!bottoms) return errno_error("mapping what is shared with the eBPF programs", errno);
  const bool borrowed = parts.attached.empty();
  std::unique_ptr<KernelWaits> waits(
      new KernelWaits(limits, std::move(parts), std::move(*ring), std::move(bottoms), memory, fields, virtual_threads));
  if (!waits->own_.has_memory()) return Error{Errc::kFailed, "no memory for the ring of waits"};
  waits->awake().store(1, std::memory_order_relaxed);
  if (Status seen = borrowed ? waits->wait_until_seen() : Status(); !seen) return std::move(seen).error();
  return waits;
}

Status KernelWaits::wait_until_seen() {
  constexpr Nanos kPatience = seconds(5);
  const timespec moment{0, 1'000'000};
  const pid_t tid = ::gettid();
  const uint32_t slot = *slots_.take();
  WaitingThread self{};
  if (const int err = linux::set_in_bpf_map(parts_.slots.get(), &tid, &slot)) {
    return errno_error(
        "using the maps of the eBPF programs (in a container the seccomp profile must allow bpf; it takes Linux 6.1)",
        err, err == EPERM ? Errc::kNotPermitted : Errc::kFailed);
  }
  const Nanos end = monotonic_now() + kPatience;
  // Who sleeps is seen to.
  while (self.first_left == 0 && monotonic_now() < end) {
    ::nanosleep(&moment, nullptr);
    if (linux::find_in_bpf_map(parts_.threads.get(), &slot, &self) != 0) break;
  }
  empty(tid, slot);
  // These sleeps were nobody's, and there was nobody else.
  const uint32_t key = 0;
  const std::vector<WaitCounters> none(linux::possible_cpus());
  (void)linux::set_in_bpf_map(parts_.counters.get(), &key, none.data());
  if (self.first_left != 0) return {};
  return Error{Errc::kFailed, "the eBPF programs that the command has loaded see nothing of this process"};
}

void KernelWaits::stop() noexcept {
  const std::lock_guard guard(stop_lock_);
  if (stopped_at_.load() != 0) return;
  awake().store(0, std::memory_order_relaxed);  // whoever runs the programs
  parts_.attached.clear();
  stopped_at_.store(monotonic_now().count);
  linux::wait_for_bpf_programs();
}

// The time up to which waits are found.
Nanos KernelWaits::now() const {
  const int64_t stopped = stopped_at_.load();
  return stopped != 0 ? Nanos(stopped) : monotonic_now();
}

uint64_t KernelWaits::epoch() const {
  return fields_.unloaded != nullptr ? *fields_.unloaded + *fields_.unloaded_shared : 0;
}

bool KernelWaits::read(const Entry& entry, WaitingThread& out) const {
  return linux::find_in_bpf_map(parts_.threads.get(), &entry.slot, &out) == 0;
}

// The programs' account and the kernel's own, of the same moment.
bool KernelWaits::read(const Entry& entry, Now& out) const {
  constexpr int kTries = 3;
  const pid_t tid = entry.sleeper.tid;
  for (int i = 0; i < kTries; ++i) {
    if (!read(entry, out.thread)) return false;
    const bool needs_queue = entry.before != Before::kNone || out.thread.unbooked != 0;
    out.at = now();
    const auto cpu = linux::thread_cpu_time(tid);
    const auto schedule = needs_queue ? schedules_.of(tid) : std::nullopt;
    out.alive = cpu.has_value();
    out.cpu = cpu ? *cpu - entry.cpu_at_start : entry.cpu;
    out.queued = schedule ? schedule->queued - entry.queued_at_start : Nanos(0);
    WaitingThread after{};
    // Between two of these readings it may have lost its CPU, or we ours, which on a busy machine is a long time.
    const bool same = !read(entry, after) || (after.ran == out.thread.ran && after.since == out.thread.since);
    if (!same && i + 1 < kTries) continue;
    book_late(out, schedule ? std::optional(schedule->queued) : std::nullopt);
    return true;
  }
  return true;
}

// As the programs will when the thread leaves its CPU. Of one that is gone nobody knows any more what it has queued
// for.
void KernelWaits::book_late(Now& seen, std::optional<Nanos> delay) const {
  WaitingThread& thread = seen.thread;
  const Nanos off = nanos(std::exchange(thread.unbooked, 0));
  if (off.count <= 0) return;
  const Nanos queued = delay ? std::clamp(*delay - nanos(thread.delay), Nanos(0), off) : Nanos(0);
  const Nanos length = off - queued;
  thread.queue += static_cast<uint64_t>(queued.count);
  const bool longer = limits_.max.count != 0 && length > limits_.max;
  linux::bpf::TimeSum& sum = length < limits_.min ? thread.shorter : longer ? thread.longer : thread.missed;
  sum.ns += static_cast<uint64_t>(length.count);
  ++sum.count;
  seen.left_out = &sum == &thread.missed;
}

// The programs won't book what is not booked by now.
bool KernelWaits::read_last(const Entry& entry, Now& out) {
  if (!read(entry, out)) return false;
  if (!out.left_out) return true;
  ++own_taken_;
  ++own_left_out_;
  return true;
}

bool KernelWaits::give_place(Entry& entry, size_t which) {
  constexpr int kTries = 4;
  const size_t bytes = linux::WaitParts::kCopyBytes[which];
  if (copies_bytes_ + bytes > memory_.copies) return false;
  for (int i = 0; i < kTries; ++i) {
    // The kernel keeps a few of each size at hand, and gets more when they have run out.
    const int err = linux::set_in_bpf_map(parts_.copies[which].get(), &entry.slot, nothing_.data());
    if (err == ENOMEM) continue;
    if (err != 0) return false;
    copies_bytes_ += bytes;
    entry.places |= 1U << which;
    return true;
  }
  return false;
}

void KernelWaits::stack_was_cut(uint32_t thread) {
  const std::lock_guard guard(lock_);
  const auto it = entries_.find(thread);
  if (it == entries_.end()) return;
  for (size_t which = kSmall; which < parts_.copies.size(); ++which) {
    if (it->second.places >> which != 0) continue;  // it has that, or a larger one
    give_place(it->second, which);
    return;
  }
}

bool KernelWaits::thread_started(const JavaThread& thread) {
  if (stopped_at_.load() != 0) return true;
  const bool itself = thread.tid == ::gettid();
  Entry entry;
  entry.sleeper = {thread.tid, thread.serial, thread.java_thread};
  const std::lock_guard guard(lock_);
  const auto slot = slots_.take();
  if (!slot) {
    ++not_followed_;
    return true;  // its CPU time may still be sampled
  }
  entry.slot = *slot;
  // Most stacks fit into the middle one. If there are very many threads, they begin with a small one.
  const bool has_place =
      (copies_bytes_ < memory_.copies / 4 && give_place(entry, kMiddle)) || give_place(entry, kSmall);
  if (!has_place) ++without_place_;
  WaitingThread known{};
  known.java_thread = reinterpret_cast<uintptr_t>(thread.java_thread);
  known.serial = thread.serial;
  entry.started = now();
  if (itself) known.running_since = static_cast<uint64_t>(entry.started.count);
  if (!make_known(entry, known)) {
    ++not_followed_;
    erase(entry);
    return true;
  }
  // After it is known to the programs: if it sleeps now, and they have not seen it go, it has not run since.
  const auto cpu = linux::thread_cpu_time(thread.tid);
  if (!cpu) {  // gone already
    erase(entry);
    return true;
  }
  entry.cpu_at_start = *cpu;
  if (!itself) {
    entry.before = Before::kAsked;
    to_look_at_.push_back(thread.serial);
  }
  entries_[thread.serial] = entry;
  return true;
}

// A few at a time, as there is room in the ring: there may be thousands.
void KernelWaits::look_at_sleepers() {
  constexpr int kAtOnce = 16;
  const std::lock_guard guard(lock_);
  for (int i = 0; i < kAtOnce && !to_look_at_.empty(); ++i) {
    const auto it = entries_.find(to_look_at_.back());
    if (it != entries_.end()) {
      it->second.before = look_at(it->second);
      if (it->second.before == Before::kAsked) return;
    }
    to_look_at_.pop_back();
  }
}

KernelWaits::Before KernelWaits::look_at(Entry& entry) {
  const pid_t tid = entry.sleeper.tid;
  const auto still_asleep = [&] {
    const auto cpu = linux::thread_cpu_time(tid);
    return cpu && *cpu == entry.cpu_at_start;
  };
  const auto schedule = schedules_.of(tid);
  WaitingThread thread{};
  if (!schedule || schedule->state == 'R' || !still_asleep()) return Before::kNone;
  if (!read(entry, thread) || thread.first_left != 0) return Before::kNone;
  entry.queued_at_start = schedule->queued;
  switch (copy_.copy(entry.sleeper, now(), now() - entry.started, still_asleep)) {
    case SleeperCopy::Outcome::kCopied:
      return Before::kCopied;
    case SleeperCopy::Outcome::kRingFull:
      return Before::kAsked;
    case SleeperCopy::Outcome::kWoken:
    case SleeperCopy::Outcome::kUnreadable:
      break;
  }
  return Before::kAsleep;
}

// It has slept from the beginning until it left a CPU for the first time that the programs have seen, but for what it
// ran then, and stood in the run queue before.
void KernelWaits::end_wait_from_before(Entry& entry, const Now& seen, bool ongoing) {
  const Before before = std::exchange(entry.before, Before::kNone);
  if (before != Before::kCopied && before != Before::kAsleep) return;
  Nanos length = seen.at - entry.started;
  if (!ongoing) {
    const WaitingThread& thread = seen.thread;
    const Nanos until = thread.first_left != 0 ? nanos(thread.first_left) : seen.at;
    Nanos ran_since = nanos(thread.ran);
    if (thread.running_since != 0) ran_since += seen.at - nanos(thread.running_since);
    const Nanos ran = std::max(Nanos(0), seen.cpu - ran_since);
    Nanos queued_since = nanos(thread.queue);
    const Nanos queue_end = seen.at;
    if (thread.since != 0 && thread.asleep == 0) queued_since += queue_end - nanos(thread.since);
    entry.unseen_queue = std::max(Nanos(0), seen.queued - queued_since);
    length = std::max(Nanos(0), until - entry.started - ran - entry.unseen_queue);
  }
  const WaitAccount::Wait wait{entry.started, length, true};
  if (length < limits_.min) return entry.apart.shorter.add(length);
  if (limits_.max.count != 0 && length > limits_.max) return entry.apart.longer.add(length);
  ++own_taken_;
  const bool written = before == Before::kCopied && own_.write_end(entry.sleeper.serial, wait, ongoing);
  (written ? entry.apart.written : entry.apart.missed).add(length);
  if (written) return;
  ++(before == Before::kCopied ? own_ring_full_ : own_late_);
}

// What the thread has left behind, as a record of its own.
bool KernelWaits::write_copy(const Entry& entry, const WaitingThread& thread, Nanos length) {
  if (thread.copy == linux::bpf::kNowhere || thread.copy > parts_.copies.size()) return false;
  const size_t which = thread.copy - 1;
  record_.resize(linux::WaitParts::kCopyBytes[which]);
  if (thread.copy_bytes > record_.size()) return false;
  if (linux::find_in_bpf_map(parts_.copies[which].get(), &entry.slot, record_.data()) != 0) return false;
  auto& header = *reinterpret_cast<linux::bpf::SampleHeader*>(record_.data());
  header.time_ns = thread.since;
  header.weight_ns = static_cast<uint64_t>(length.count);
  header.flags = static_cast<uint16_t>(linux::bpf::kFlagWaits | linux::bpf::kFlagOngoing | thread.copy_flags);
  uint8_t* out = own_.ring().reserve(thread.copy_bytes);
  if (out == nullptr) return false;
  std::memcpy(out, record_.data(), thread.copy_bytes);
  own_.ring().commit(out);
  return true;
}

// What its waker would have copied, as long as nobody has woken it.
bool KernelWaits::write_sleeper(Entry& entry, const WaitingThread& thread, Nanos length) {
  const auto still_asleep = [&] { return linux::thread_cpu_time(entry.sleeper.tid) == nanos(thread.runtime); };
  const Nanos since = nanos(thread.since);
  if (copy_.copy(entry.sleeper, since, length, still_asleep) != SleeperCopy::Outcome::kCopied) return false;
  return own_.write_end(entry.sleeper.serial, {since, length, false}, true);
}

void KernelWaits::end_open_wait(Entry& entry, const Now& seen) {
  if (!sleeps(seen.thread)) return;
  const Nanos length = seen.at - nanos(seen.thread.since);
  if (length.count <= 0) return;
  if (length < limits_.min) return entry.apart.shorter.add(length);
  if (limits_.max.count != 0 && length > limits_.max) return entry.apart.longer.add(length);
  ++own_taken_;
  const bool written = seen.thread.copy == linux::bpf::kAtWaker ? write_sleeper(entry, seen.thread, length)
                                                                : write_copy(entry, seen.thread, length);
  (written ? entry.apart.written : entry.apart.missed).add(length);
  if (written) return;
  ++(seen.thread.copy_failure == linux::bpf::kDropLeftOut ? own_left_out_ : own_late_);
}

size_t KernelWaits::consume(const Visit& visit, size_t at_most) {
  look_at_sleepers();
  const uint64_t epoch_now = epoch();
  const size_t own = own_.consume(visit, at_most);
  const size_t seen = ring_.consume(
      [&](const uint8_t* record, size_t size) {
        record_.assign(record, record + size);  // the ring is the kernel's to write
        uint64_t mark = 0;
        std::memcpy(&mark, record_.data(), std::min(size, sizeof(mark)));
        if (mark == kWakerMark) return consume_waker(size);
        auto& fragment = *reinterpret_cast<linux::bpf::Fragment*>(record_.data() + sizeof(linux::bpf::SampleHeader));
        // What is on the stack of a thread that sleeps can't be unloaded; this one has slept since we were here last.
        fragment.epoch = std::max<uint64_t>(fragment.epoch, epoch_before_);
        visit(*reinterpret_cast<const capture::FragmentRecord*>(record_.data()));
      },
      at_most - own);
  if (own + seen < at_most) epoch_before_ = epoch_now;
  return own + seen;
}

void KernelWaits::consume_waker(size_t size) {
  if (!visit_waker_ || size < sizeof(linux::bpf::Waker)) return;
  const auto& waker = *reinterpret_cast<const linux::bpf::Waker*>(record_.data());
  const bool has_stack = size >= linux::bpf::kWakerHead;
  const auto* stack = reinterpret_cast<const capture::FragmentRecord*>(record_.data() + sizeof(waker));
  visit_waker_(waker, has_stack ? stack : nullptr);
}

ThreadTimes KernelWaits::times_of(Entry& entry, const Now& seen) {
  const WaitingThread& thread = seen.thread;
  entry.cpu = seen.cpu;
  ThreadTimes times;
  times.serial = entry.sleeper.serial;
  times.of(TimePart::kCpu).time = seen.cpu;
  times.of(TimePart::kQueue).time = nanos(thread.queue) + entry.unseen_queue;
  times.of(TimePart::kWaits) = sum_of(thread.written, entry.apart.written);
  times.of(TimePart::kShortWaits) = sum_of(thread.shorter, entry.apart.shorter);
  times.of(TimePart::kLongWaits) = sum_of(thread.longer, entry.apart.longer);
  times.of(TimePart::kMissedWaits) = sum_of(thread.missed, entry.apart.missed);
  if (!seen.alive) return times;  // gone without a word, nobody knows when
  // Off its CPU just now: what for is in no sum yet.
  const Nanos since = thread.since != 0 ? nanos(thread.since) : entry.started;
  if (entry.before == Before::kAsleep || entry.before == Before::kCopied || (sleeps(thread) && !stopped_at_.load())) {
    times.of(TimePart::kOpenWait) = {std::max(Nanos(0), seen.at - since), 1};
  } else if (thread.since != 0 && !sleeps(thread)) {
    const Nanos woken = thread.asleep != 0 ? nanos(thread.woken) : since;
    times.of(TimePart::kQueue).time += std::max(Nanos(0), seen.at - woken);
    if (thread.asleep != 0 && thread.booked == 0) times.of(TimePart::kShortWaits).time += woken - since;
  }
  Nanos rest = seen.at - entry.started;
  for (const WaitAccount::Sum& part : times.parts) rest -= part.time;
  WaitAccount::Sum& queue = times.of(TimePart::kQueue);
  // Its clock runs from a little before the programs see it come: that was no queue any more.
  if (rest.count < 0) queue.time = std::max(Nanos(0), queue.time + rest);
  // On a CPU by the programs' account, but not by its own clock: a hypervisor had that CPU, or an interrupt.
  Nanos on_cpu = nanos(thread.ran);
  if (thread.running_since != 0) on_cpu += seen.at - nanos(thread.running_since);
  const Nanos taken = std::clamp(on_cpu - seen.cpu, Nanos(0), std::max(Nanos(0), rest));
  queue.time += taken;
  rest -= taken;
  // What the programs have not seen, whatever the reason, is not lost.
  if (rest.count > 0) times.of(TimePart::kMissedWaits).time += rest;
  return times;
}

// The slot first: the programs look into it as soon as they know of it.
bool KernelWaits::make_known(const Entry& entry, const WaitingThread& thread) const {
  return linux::set_in_bpf_map(parts_.threads.get(), &entry.slot, &thread) == 0 &&
         linux::set_in_bpf_map(parts_.slots.get(), &entry.sleeper.tid, &entry.slot) == 0;
}

// The programs know it by its serial number until it ends: in that slot there must be none that it might have.
void KernelWaits::empty(pid_t tid, uint32_t slot) {
  WaitingThread nobody{};
  nobody.serial = UINT32_MAX;
  (void)linux::erase_in_bpf_map(parts_.slots.get(), &tid);
  (void)linux::set_in_bpf_map(parts_.threads.get(), &slot, &nobody);
  slots_.give_back(slot);
}

void KernelWaits::erase(const Entry& entry) {
  empty(entry.sleeper.tid, entry.slot);
  for (size_t which = 0; which < parts_.copies.size(); ++which) {
    if ((entry.places >> which & 1U) == 0) continue;
    (void)linux::erase_in_bpf_map(parts_.copies[which].get(), &entry.slot);
    copies_bytes_ -= linux::WaitParts::kCopyBytes[which];
  }
}

void KernelWaits::thread_ended(const JavaThread& thread) {
  const std::lock_guard guard(lock_);
  const auto it = entries_.find(thread.serial);
  if (it == entries_.end()) return;
  Now last{};
  if (read_last(it->second, last)) {
    end_wait_from_before(it->second, last, false);
    ended_.push_back(times_of(it->second, last));
  }
  erase(it->second);
  entries_.erase(it);
}

bool KernelWaits::close_one() {
  const std::lock_guard guard(lock_);
  if (entries_.empty()) return false;
  Entry entry = entries_.begin()->second;
  entries_.erase(entries_.begin());
  if (entry.before == Before::kAsked) entry.before = look_at(entry);  // there was no time for it
  Now last{};
  if (read_last(entry, last)) {
    end_wait_from_before(entry, last, last.thread.first_left == 0 && last.cpu.count == 0);
    end_open_wait(entry, last);
    ended_.push_back(times_of(entry, last));
  }
  erase(entry);
  return true;
}

std::vector<ThreadTimes> KernelWaits::changed_times() {
  std::vector<uint32_t> serials;
  std::vector<ThreadTimes> changed;
  {
    const std::lock_guard guard(lock_);
    serials.reserve(entries_.size());
    for (const auto& [serial, entry] : entries_) serials.push_back(serial);
    changed = std::exchange(ended_, {});
  }
  // The lock is held for one thread at a time: whoever starts or ends meanwhile need not wait for ten thousand.
  for (const uint32_t serial : serials) {
    const std::lock_guard guard(lock_);
    const auto it = entries_.find(serial);
    if (it != entries_.end()) add_if_changed(it->second, changed);
  }
  return changed;
}

void KernelWaits::add_if_changed(Entry& entry, std::vector<ThreadTimes>& changed) {
  const auto mark_of = [](const WaitingThread& thread) {
    return thread.queue + thread.written.count + thread.shorter.count + thread.longer.count + thread.missed.count +
           thread.since;
  };
  // Of most threads that is all: they sleep, and have been told.
  WaitingThread thread{};
  if (!read(entry, thread)) return;
  if (entry.told == mark_of(thread) && (thread.first_left == 0 || entry.before == Before::kNone)) return;
  Now seen{};
  if (!read(entry, seen)) return;
  if (seen.thread.first_left != 0) end_wait_from_before(entry, seen, false);
  const uint64_t mark = mark_of(seen.thread);
  if (std::exchange(entry.told, mark) != mark) changed.push_back(times_of(entry, seen));
}

WaitCounters KernelWaits::sum_of_counters() const {
  std::vector<WaitCounters> of_cpus(linux::possible_cpus());
  const uint32_t key = 0;
  WaitCounters sum{};
  if (linux::find_in_bpf_map(parts_.counters.get(), &key, of_cpus.data()) != 0) return sum;
  for (const WaitCounters& cpu : of_cpus) {
    sum.taken += cpu.taken;
    sum.ns += cpu.ns;
    sum.stacks_ns += cpu.stacks_ns;
    sum.lost_wakers += cpu.lost_wakers;
    sum.wakers_without_stack += cpu.wakers_without_stack;
    for (size_t i = 0; i < linux::bpf::kWaitDrops; ++i) sum.dropped[i] += cpu.dropped[i];
  }
  return sum;
}

void KernelWaits::keep_share(double share) {
  constexpr double kAll = int{linux::bpf::kAllWaits};
  const auto left_out = static_cast<uint64_t>((1 - share) * kAll);
  std::atomic_ref(told().left_out).store(left_out, std::memory_order_relaxed);
}

void KernelWaits::add_to(EngineStats& stats) {
  const WaitCounters sum = sum_of_counters();
  const std::lock_guard guard(lock_);
  stats.taken = sum.taken + own_taken_;
  stats.dropped[capture::kDropNames[static_cast<size_t>(capture::Drop::kRingFull)]] =
      sum.dropped[linux::bpf::kDropRingFull] + own_ring_full_;
  stats.dropped["thread unreadable"] = sum.dropped[linux::bpf::kDropThreadUnreadable];
  stats.dropped["stack unreadable"] = sum.dropped[linux::bpf::kDropStackUnreadable];
  stats.dropped["no memory for the stack"] = sum.dropped[linux::bpf::kDropNoPlace];
  stats.dropped["ended by another process before the stack was read"] = sum.dropped[linux::bpf::kDropStranger];
  stats.dropped["left out to keep the cost down"] = sum.dropped[linux::bpf::kDropLeftOut] + own_left_out_;
  stats.dropped["begin not seen"] = sum.dropped[linux::bpf::kDropBeginUnseen];
  stats.dropped["end not seen"] = sum.dropped[linux::bpf::kDropEndUnseen];
  stats.dropped["over before the stack was read"] = own_late_;
  stats.in_app_threads = nanos(sum.ns);
  stats.memory = Bytes(static_cast<int64_t>(memory_.ring + own_.bytes() + parts_.map_bytes + copies_bytes_));
  stats.counters["wakers: no room in the ring"] = static_cast<int64_t>(sum.lost_wakers);
  stats.counters["wakers: stack unreadable"] = static_cast<int64_t>(sum.wakers_without_stack);
  stats.counters["threads not followed"] = not_followed_;
  stats.counters["threads without memory for their stacks"] = without_place_;
}

}  // namespace tarsier::agent
