#include "linux/wait_parts.h"

#include <linux/bpf.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "linux/bpf_program.h"
#include "linux/cpus.h"
#include "linux/kernel_types.h"
#include "linux/wake_context.h"

namespace tarsier::linux {
namespace {

static_assert(sizeof(bpf::WaitingThread) % 64 == 0 && offsetof(bpf::WaitingThread, ran) == 64, "lines of the cache");
static_assert(64 % sizeof(bpf::Seat) == 0, "likewise");

constexpr const char* kThreads = "threads";
constexpr const char* kSlots = "slots";
constexpr const char* kSeats = "seats";
constexpr const char* kTasks = "tasks";
constexpr const char* kBottoms = "bottoms";
constexpr const char* kRing = "ring";
constexpr const char* kCounters = "counters";
constexpr const char* kScratches = "scratches";
constexpr const char* kIdentities = "identities";
constexpr const char* kKernelFrames = "kernel_frames";
constexpr const char* kCopies[] = {"small_copies", "middle_copies", "large_copies"};

struct Part {
  const char* tracepoint;
  std::span<const uint8_t> (*program)() noexcept;
};
// aarch64's name for it, and x86_64's.
void find_system_call(const KernelTypes& types, bpf::Settings& settings) {
  auto number = types.member("pt_regs", "syscallno");
  if (!number) number = types.member("pt_regs", "orig_ax");
  if (!number || (number->size != 4 && number->size != 8)) return;
  settings.system_call = number->offset;
  settings.system_call_bytes = number->size;
}

void find_runtime(const KernelTypes& types, bpf::Settings& settings) {
  const auto entity = types.member("task_struct", "se");
  const auto runtime = types.member("sched_entity", "sum_exec_runtime");
  if (entity && runtime && runtime->size == 8) settings.task_runtime = entity->offset + runtime->offset;
}

void find_delay(const KernelTypes& types, bpf::Settings& settings) {
  const auto account = types.member("task_struct", "sched_info");
  const auto delay = types.member("sched_info", "run_delay");
  if (account && delay && delay->size == 8) settings.task_delay = account->offset + delay->offset;
}

constexpr Part kParts[] = {{"sched_waking", wait_waking_program}, {"sched_switch", wait_switch_program}};

}  // namespace

// Before that, kernels warn of programs on tracepoints with maps whose entries are allocated one by one, and a machine
// may have been told to stop at a warning. The tracepoint tells since 5.18 whether a thread goes to sleep.
bool kernel_finds_waits(const std::string& release) {
  int major = 0, minor = 0;
  if (std::sscanf(release.c_str(), "%d.%d", &major, &minor) != 2) return false;
  return major > 6 || (major == 6 && minor >= 1);
}

Result<WaitParts> make_wait_parts(bpf::Settings settings, const WaitMemory& memory) {
  utsname names{};
  if (::uname(&names) != 0 || !kernel_finds_waits(names.release)) {
    return Error{Errc::kUnsupported, "Linux 6.1 or later is needed"};
  }
  settings.ring_bytes = memory.ring;
  settings.task_registers = 1;
  const auto types = KernelTypes::of_kernel();
  if (types) find_system_call(*types, settings);
  if (types) find_runtime(*types, settings);
  if (types) find_delay(*types, settings);
  settings.wakes = find_wake_context(types ? &*types : nullptr);
  const auto scratches = static_cast<uint32_t>(settings.java.virtual_threads.present != 0 ? possible_cpus() : 1);
  // Allocated at once, but for the copies, which are the agent's to add: the programs run where nothing can be.
  std::vector<BpfMapPlan> maps = {
      // What can be mapped begins at a page: so no thread shares a line of the cache, and no seat lies on two.
      {kThreads, BPF_MAP_TYPE_ARRAY, sizeof(uint32_t), sizeof(bpf::WaitingThread), bpf::kMaxThreads, BPF_F_MMAPABLE},
      {kSlots, BPF_MAP_TYPE_HASH, sizeof(uint32_t), sizeof(uint32_t), bpf::kMaxThreads},
      {kSeats, BPF_MAP_TYPE_ARRAY, sizeof(uint32_t), sizeof(bpf::Seat), bpf::kSeats, BPF_F_MMAPABLE},
      {kTasks, BPF_MAP_TYPE_HASH, sizeof(uint64_t), sizeof(bpf::Seated), bpf::kMaxThreads},
      {kBottoms, BPF_MAP_TYPE_ARRAY, sizeof(uint32_t), sizeof(bpf::Told), 1, BPF_F_MMAPABLE},
      {kRing, BPF_MAP_TYPE_RINGBUF, 0, 0, static_cast<uint32_t>(memory.ring)},
      {kCounters, BPF_MAP_TYPE_PERCPU_ARRAY, sizeof(uint32_t), sizeof(bpf::WaitCounters), 1},
      {kIdentities, BPF_MAP_TYPE_ARRAY, sizeof(uint32_t), sizeof(bpf::Identity), bpf::kIdentities},
      {kScratches, BPF_MAP_TYPE_ARRAY, sizeof(uint32_t), sizeof(bpf::Scratch), scratches},
      {kKernelFrames, BPF_MAP_TYPE_PERCPU_ARRAY, sizeof(uint32_t), sizeof(bpf::KernelFrames), 1}};
  WaitParts parts;
  for (const BpfMapPlan& plan : maps) {
    if (plan.name != kRing) parts.map_bytes += size_t{plan.value_bytes} * plan.entries;
  }
  for (size_t i = 0; i < parts.copies.size(); ++i) {
    const size_t bytes = WaitParts::kCopyBytes[i];
    const auto most = static_cast<uint32_t>(std::clamp<size_t>(memory.copies / bytes, 1, bpf::kMaxThreads));
    maps.push_back(
        {kCopies[i], BPF_MAP_TYPE_HASH, sizeof(uint32_t), static_cast<uint32_t>(bytes), most, BPF_F_NO_PREALLOC});
  }
  std::vector<BpfProgram> programs;
  for (const Part& part : kParts) {
    auto program = BpfProgram::load(part.program(), BPF_PROG_TYPE_RAW_TRACEPOINT,
                                    {reinterpret_cast<const uint8_t*>(&settings), sizeof(settings)}, maps);
    if (!program) return std::move(program).error().in(part.tracepoint);
    // The programs after the first work on its maps.
    for (BpfMapPlan& plan : maps) {
      if (plan.shared < 0) plan.shared = program->map(plan.name);
    }
    auto attached = attach_to_tracepoint(program->program(), part.tracepoint);
    if (!attached) return std::move(attached).error();
    parts.attached.push_back(std::move(*attached));
    programs.push_back(std::move(*program));
  }
  BpfProgram& last = programs.back();
  parts.threads = last.take_map(kThreads);
  parts.slots = last.take_map(kSlots);
  parts.bottoms = last.take_map(kBottoms);
  parts.ring = last.take_map(kRing);
  parts.counters = last.take_map(kCounters);
  parts.identities = last.take_map(kIdentities);
  for (size_t i = 0; i < parts.copies.size(); ++i) parts.copies[i] = last.take_map(kCopies[i]);
  return parts;
}

}  // namespace tarsier::linux
