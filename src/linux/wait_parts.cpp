#include "linux/wait_parts.h"

#include <linux/bpf.h>

#include <string>

#include "linux/bpf_program.h"

namespace tarsier::linux {
namespace {

constexpr const char* kThreads = "threads";
constexpr const char* kTasks = "tasks";
constexpr const char* kRing = "ring";
constexpr const char* kCounters = "counters";

struct Part {
  const char* tracepoint;
  std::span<const uint8_t> (*program)() noexcept;
};
// Who copies comes first, and who finds something to copy last.
constexpr Part kParts[] = {
    {"sys_exit", wait_return_program}, {"sched_waking", wait_waking_program}, {"sched_switch", wait_switch_program}};

}  // namespace

Result<WaitParts> make_wait_parts(const bpf::WaitSettings& settings, size_t ring_bytes) {
  // Allocated at once: the programs run where nothing can be.
  std::vector<BpfMapPlan> maps = {
      {kThreads, BPF_MAP_TYPE_HASH, sizeof(uint32_t), sizeof(bpf::WaitingThread), bpf::kMaxThreads},
      {kTasks, BPF_MAP_TYPE_HASH, sizeof(uint64_t), sizeof(uint32_t), bpf::kMaxThreads},
      {kRing, BPF_MAP_TYPE_RINGBUF, 0, 0, static_cast<uint32_t>(ring_bytes)},
      {kCounters, BPF_MAP_TYPE_PERCPU_ARRAY, sizeof(uint32_t), sizeof(bpf::WaitCounters), 1}};
  WaitParts parts;
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
    if (parts.threads) continue;
    parts.threads = program->take_map(kThreads);
    parts.tasks = program->take_map(kTasks);
    parts.ring = program->take_map(kRing);
    parts.counters = program->take_map(kCounters);
  }
  return parts;
}

}  // namespace tarsier::linux
