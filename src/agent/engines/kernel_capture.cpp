#include "agent/engines/kernel_capture.h"

#include <linux/bpf.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/clock.h"
#include "linux/bpf_map.h"
#include "linux/cpus.h"

namespace tarsier::agent {
namespace {

using capture::bpf::Counters;
using capture::bpf::Settings;
using capture::bpf::Thread;

Result<Settings> settings_for(const hotspot::ThreadFields& fields) {
  Settings settings{};
  struct stat space {};
  if (::stat("/proc/self/ns/pid", &space) != 0) return errno_error("looking at /proc/self/ns/pid", errno);
  // The kernel's own form of a device number is not the one of stat().
  settings.namespace_device = uint64_t{major(space.st_dev)} << 20 | minor(space.st_dev);
  settings.namespace_inode = space.st_ino;
  settings.process = static_cast<uint32_t>(::getpid());
  settings.anchor_sp = fields.anchor_sp;
  settings.anchor_pc = fields.anchor_pc;
  settings.anchor_fp = fields.anchor_fp;
  settings.thread_state = fields.thread_state;
  settings.continuation = fields.continuation;
  settings.stack_base = fields.stack_base;
  settings.unloaded = reinterpret_cast<uintptr_t>(fields.unloaded);
  settings.unloaded_shared = reinterpret_cast<uintptr_t>(fields.unloaded_shared);
  return settings;
}

Result<linux::BpfProgram> load_program(Settings& settings, const KernelCapture::Options& options) {
  const auto cpus = static_cast<uint32_t>(linux::possible_cpus());
  const std::vector<linux::BpfMapPlan> maps = {
      // Allocated at once: the program runs where nothing can be.
      {capture::kThreadsMap, BPF_MAP_TYPE_HASH, sizeof(uint32_t), sizeof(Thread), capture::bpf::kMaxThreads},
      {capture::kRingMap, BPF_MAP_TYPE_RINGBUF, 0, 0, static_cast<uint32_t>(options.ring_bytes)},
      {capture::kPeriodsMap, BPF_MAP_TYPE_ARRAY, sizeof(uint32_t), sizeof(uint64_t), cpus},
      {capture::kCountersMap, BPF_MAP_TYPE_PERCPU_ARRAY, sizeof(uint32_t), sizeof(Counters), 1}};
  const auto load = [&](bool task_registers) {
    settings.task_registers = task_registers ? 1 : 0;
    return linux::BpfProgram::load(capture::fragment_program(), BPF_PROG_TYPE_PERF_EVENT,
                                   {reinterpret_cast<const uint8_t*>(&settings), sizeof(settings)}, maps);
  };
  if (options.old_kernel) return load(false);
  // Linux before 5.15 lacks a function for them, and a kernel without BTF the types.
  auto program = load(true);
  if (program || program.error().code != Errc::kUnsupported) return program;
  auto lesser = load(false);
  return lesser ? std::move(lesser) : std::move(program);
}

Error explained(Error error) {
  if (error.code == Errc::kNotPermitted) {
    error.what +=
        ": the JVM's user needs CAP_BPF and CAP_PERFMON for it (tarsier doctor PID says how); other clocks do not";
  }
  return error;
}

}  // namespace

KernelCapture::KernelCapture(const Options& options, linux::BpfProgram program, linux::BpfRing ring,
                             linux::CpuTicks ticks)
    : options_(options),
      program_(std::move(program)),
      threads_(program_.map(capture::kThreadsMap)),
      periods_(program_.map(capture::kPeriodsMap)),
      counters_(program_.map(capture::kCountersMap)),
      ring_(std::move(ring)),
      ticks_(std::move(ticks)),
      random_(static_cast<uint64_t>(clock_now(CLOCK_MONOTONIC).count) | 1),
      next_draw_(ticks_.size()) {}

Result<std::unique_ptr<KernelCapture>> KernelCapture::load(const hotspot::ThreadFields& fields,
                                                           const Options& options) {
  auto settings = settings_for(fields);
  if (!settings) return std::move(settings).error();
  auto program = load_program(*settings, options);
  if (!program) return explained(std::move(program).error());
  auto ring = linux::BpfRing::map(program->map(capture::kRingMap), options.ring_bytes);
  if (!ring) return std::move(ring).error();
  auto ticks = linux::CpuTicks::open(linux::online_cpus(), program->program());
  if (!ticks) return explained(std::move(ticks).error());
  std::unique_ptr<KernelCapture> capture(
      new KernelCapture(options, std::move(*program), std::move(*ring), std::move(*ticks)));
  capture->sees_kernel_ = settings->task_registers != 0;
  return capture;
}

Status KernelCapture::start() {
  const Nanos now = clock_now(CLOCK_MONOTONIC);
  for (size_t i = 0; i < ticks_.size(); ++i) {
    if (Status status = draw_period(i, now); !status) return status;
  }
  return ticks_.enable();
}

// Each CPU has a period of its own, so they are out of phase from the start on. It keeps it for a number of ticks, not
// for a time: the mean of the periods is then the mean time between samples.
Status KernelCapture::draw_period(size_t index, Nanos now) {
  // The timer starts anew, and half a period on average goes without a tick: one in 800 is no loss.
  constexpr int64_t kTicks = 400;
  const uint64_t period = std::max(linux::CpuTicks::kFinestNs,
                                   capture::draw_period(static_cast<uint64_t>(options_.interval.count), random_));
  next_draw_[index] = now + Nanos(static_cast<int64_t>(period)) * kTicks;
  if (Status status = ticks_.set_period(index, period); !status) return status;
  // What a tick stands for. If we are preempted before this, some ticks stand for the old period: as likely too long as
  // too short.
  const int cpu = ticks_.cpu(index);
  if (const int err = linux::set_in_bpf_map(periods_, &cpu, &period)) return errno_error("setting a period", err);
  return {};
}

void KernelCapture::draw_periods_that_are_due() {
  const Nanos now = clock_now(CLOCK_MONOTONIC);
  for (size_t i = 0; i < ticks_.size(); ++i) {
    if (next_draw_[i] <= now) (void)draw_period(i, now);  // else it ticks on as before
  }
}

Counters KernelCapture::counters() const {
  std::vector<Counters> of_cpus(linux::possible_cpus());
  const uint32_t key = 0;
  Counters sum{};
  if (linux::find_in_bpf_map(counters_, &key, of_cpus.data()) != 0) return sum;
  for (const Counters& cpu : of_cpus) {
    sum.taken += cpu.taken;
    sum.ring_full += cpu.ring_full;
    sum.registers_unreadable += cpu.registers_unreadable;
    sum.thread_unreadable += cpu.thread_unreadable;
    sum.stack_unreadable += cpu.stack_unreadable;
    sum.other_threads += cpu.other_threads;
    sum.ns += cpu.ns;
  }
  return sum;
}

bool KernelCapture::thread_started(const JavaThread& thread) {
  const Thread known{reinterpret_cast<uintptr_t>(thread.java_thread), 0, thread.serial, 0};
  if (linux::set_in_bpf_map(threads_, &thread.tid, &known) == 0) return true;
  not_followed_.fetch_add(1, std::memory_order_relaxed);
  return false;
}

void KernelCapture::thread_ended(const JavaThread& thread) {
  (void)linux::erase_in_bpf_map(threads_, &thread.tid);  // was not followed, if it is not there
}

}  // namespace tarsier::agent
