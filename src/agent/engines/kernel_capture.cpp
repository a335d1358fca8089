#include "agent/engines/kernel_capture.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/clock.h"
#include "linux/bpf_map.h"
#include "linux/bpf_program.h"
#include "linux/cpus.h"

namespace tarsier::agent {

using linux::bpf::Counters;

namespace {

linux::bpf::VirtualThreads copy(const hotspot::VirtualThreadLayout& layout) {
  linux::bpf::VirtualThreads out{};
  out.carrier = layout.carrier;
  out.current = layout.current;
  out.current_id = layout.current_id;
  out.continuation = layout.continuation;
  out.thread_id = layout.thread.id;
  out.thread_name = layout.thread.name;
  out.thread_continuation = layout.thread.continuation;
  out.tail = layout.tail;
  out.chunk_parent = layout.chunk.parent;
  out.chunk_size = layout.chunk.size;
  out.chunk_sp = layout.chunk.sp;
  out.chunk_bottom = layout.chunk.bottom;
  out.chunk_words = layout.chunk.words;
  out.bottom_is_argument_size = layout.chunk.bottom_is_argument_size ? 1 : 0;
  out.text_value = layout.text.value;
  out.text_coder = layout.text.coder;
  out.text_length = layout.text.length;
  out.text_bytes = layout.text.bytes;
  out.reference_base = layout.references.base;
  out.reference_shift = static_cast<uint32_t>(layout.references.shift);
  out.references_compressed = layout.references.compressed ? 1 : 0;
  out.bad_colours = reinterpret_cast<uintptr_t>(layout.references.bad_colours);
  out.colour_bits = reinterpret_cast<uintptr_t>(layout.references.colour_bits);
  out.code_begin = layout.code_begin;
  out.code_end = layout.code_end;
  out.present = 1;
  return out;
}

}  // namespace

linux::bpf::JavaLayout KernelCapture::layout_of(const hotspot::ThreadFields& fields,
                                                const hotspot::VirtualThreadLayout* virtual_threads) {
  linux::bpf::JavaLayout layout{};
  layout.anchor_sp = fields.anchor_sp;
  layout.anchor_pc = fields.anchor_pc;
  layout.anchor_fp = fields.anchor_fp;
  layout.thread_state = fields.thread_state;
  layout.continuation = fields.continuation;
  layout.stack_base = fields.stack_base;
  layout.pending_monitor = fields.pending_monitor;
  layout.unloaded = reinterpret_cast<uintptr_t>(fields.unloaded);
  layout.unloaded_shared = reinterpret_cast<uintptr_t>(fields.unloaded_shared);
  if (virtual_threads != nullptr) layout.virtual_threads = copy(*virtual_threads);
  return layout;
}

namespace {

std::optional<linux::DrawnTicks> take_ticks(linux::KernelParts& parts, Nanos interval) {
  if (parts.ticks.empty()) return std::nullopt;
  return linux::DrawnTicks(std::exchange(parts.ticks, {}), std::exchange(parts.periods, {}), interval);
}

}  // namespace

KernelCapture::KernelCapture(linux::KernelParts parts, linux::BpfRing ring, Mapping told, Nanos interval,
                             size_t ring_bytes)
    : ring_bytes_(ring_bytes),
      ring_(std::move(ring)),
      told_(std::move(told)),
      ticks_(take_ticks(parts, interval)),
      parts_(std::move(parts)) {}

Result<std::unique_ptr<KernelCapture>> KernelCapture::over(linux::KernelParts parts, Nanos interval,
                                                           size_t ring_bytes) {
  auto ring = linux::BpfRing::map(parts.ring.get(), ring_bytes);
  if (!ring) return std::move(ring).error();
  Mapping told = Mapping::of(parts.bottoms.get(), sizeof(linux::bpf::Told));
  if (!told) return errno_error("mapping what is shared with the eBPF program", errno);
  // A map that was given to us may be of no use.
  const pid_t nobody = 0;
  if (linux::erase_in_bpf_map(parts.threads.get(), &nobody) == EPERM) {
    return errno_error(
        "using the maps of the eBPF program (in a container the seccomp profile must allow bpf; before Linux 5.19 it "
        "takes sysctl kernel.unprivileged_bpf_disabled=0)",
        EPERM, Errc::kNotPermitted);
  }
  return std::unique_ptr<KernelCapture>(
      new KernelCapture(std::move(parts), std::move(*ring), std::move(told), interval, ring_bytes));
}

Status KernelCapture::start() {
  awake().store(1, std::memory_order_relaxed);
  return ticks_ ? ticks_->start() : Status();
}

void KernelCapture::silence() noexcept {
  if (awake().exchange(0, std::memory_order_relaxed) == 0) return;
  if (ticks_) {
    ticks_->stop();
  } else {
    linux::wait_for_bpf_programs();  // somebody else's clocks tick on
  }
}

size_t KernelCapture::consume(const Visit& visit, size_t at_most) {
  if (ticks_) ticks_->draw_those_due();
  return ring_.consume(
      [&](const uint8_t* record, size_t size) {
        const auto& header = *reinterpret_cast<const linux::bpf::SampleHeader*>(record);
        if ((header.flags & linux::bpf::kUnknownThread) == 0) return visit(as_record(record));
        const auto tid = static_cast<pid_t>(header.thread);
        if (const auto serial = starting_.owner(tid, header.time_ns)) {
          copy_.assign(record, record + size);  // the ring is the kernel's to write
          visit(adopt(*serial, copy_.data()));
        } else {
          starting_.keep(tid, header.time_ns, {record, size});
        }
      },
      at_most);
}

void KernelCapture::settle(const Visit& visit) {
  starting_.settle([&](uint32_t serial, uint8_t* record) { visit(adopt(serial, record)); });
}

void KernelCapture::add_to(EngineStats& stats) const {
  const Counters counted = counters();
  stats.taken = counted.taken;
  stats.dropped[capture::kDropNames[static_cast<size_t>(capture::Drop::kRingFull)]] = counted.ring_full;
  stats.dropped["registers unreadable"] = counted.registers_unreadable;
  stats.dropped["thread unreadable"] = counted.thread_unreadable;
  stats.dropped["stack unreadable"] = counted.stack_unreadable;
  stats.in_app_threads = Nanos(static_cast<int64_t>(counted.ns));
  // The ring, and what else grows with the machine: the kernel's memory.
  stats.memory = Bytes(static_cast<int64_t>(ring_bytes_ + parts_.scratch_bytes));
  stats.counters["threads without a clock"] = not_followed_.load(std::memory_order_relaxed);
  stats.counters["ticks in other threads"] = static_cast<int64_t>(counted.other_threads);
}

std::vector<std::string> KernelCapture::warnings() const {
  std::vector<std::string> warnings;
  if (!parts_.sees_kernel) {
    warnings.emplace_back(
        "time in the kernel is not sampled: this kernel does not tell where it was called from (Linux 5.15 with BTF "
        "does)");
  }
  if (parts_.hides_kernel) {
    warnings.emplace_back(
        "stacks end where the kernel was called: the JVM's user may not see its functions (as root: sysctl "
        "kernel.perf_event_paranoid=1)");
  }
  if (const int64_t threads = not_followed_.load(std::memory_order_relaxed); threads > 0) {
    warnings.push_back(std::to_string(threads) + " threads are not sampled: this clock can follow " +
                       std::to_string(linux::bpf::kMaxThreads) + " at a time");
  }
  return warnings;
}

Counters KernelCapture::counters() const {
  std::vector<Counters> of_cpus(linux::possible_cpus());
  const uint32_t key = 0;
  Counters sum{};
  if (linux::find_in_bpf_map(parts_.counters.get(), &key, of_cpus.data()) != 0) return sum;
  for (const Counters& cpu : of_cpus) {
    sum.taken += cpu.taken;
    sum.ring_full += cpu.ring_full;
    sum.registers_unreadable += cpu.registers_unreadable;
    sum.thread_unreadable += cpu.thread_unreadable;
    sum.stack_unreadable += cpu.stack_unreadable;
    sum.other_threads += cpu.other_threads;
    sum.ns += cpu.ns;
  }
  sum.taken += adopted_;
  sum.other_threads -= adopted_;
  return sum;
}

const capture::FragmentRecord& KernelCapture::adopt(uint32_t serial, uint8_t* record) {
  auto& header = *reinterpret_cast<linux::bpf::SampleHeader*>(record);
  header.thread = serial;
  header.flags = 0;
  ++adopted_;
  return as_record(record);
}

bool KernelCapture::thread_started(const JavaThread& thread) {
  const linux::bpf::Thread known{reinterpret_cast<uintptr_t>(thread.java_thread), 0, thread.serial, 0};
  if (linux::set_in_bpf_map(parts_.threads.get(), &thread.tid, &known) == 0) {
    // Only of a thread that tells us itself we know that it has just begun.
    if (thread.tid == ::gettid()) starting_.started(thread.tid, thread.serial);
    return true;
  }
  not_followed_.fetch_add(1, std::memory_order_relaxed);
  return false;
}

void KernelCapture::thread_ended(const JavaThread& thread) {
  starting_.ended(thread.tid, static_cast<uint64_t>(clock_now(CLOCK_MONOTONIC).count));
  (void)linux::erase_in_bpf_map(parts_.threads.get(), &thread.tid);  // was not followed, if it is not there
}

}  // namespace tarsier::agent
