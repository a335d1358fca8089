#include "linux/turn_parts.h"

#include <linux/bpf.h>

#include <utility>

#include "linux/bpf_program.h"
#include "linux/cpus.h"

namespace tarsier::linux {
namespace {

constexpr const char* kTurns = "turns";
constexpr const char* kCpus = "cpus";
constexpr const char* kTasks = "tasks";
constexpr const char* kIdleTasks = "idle_tasks";
constexpr const char* kIdentities = "identities";

}  // namespace

Result<TurnParts> make_turn_parts(const bpf::Settings& settings) {
  const auto cpus = static_cast<uint32_t>(possible_cpus());
  // Allocated at once: the program runs where nothing can be.
  auto program = BpfProgram::load(
      turns_program(), BPF_PROG_TYPE_RAW_TRACEPOINT, {reinterpret_cast<const uint8_t*>(&settings), sizeof(settings)},
      {{kTurns, BPF_MAP_TYPE_HASH, sizeof(bpf::TurnKey), sizeof(uint64_t), bpf::kMaxTurns},
       {kCpus, BPF_MAP_TYPE_ARRAY, sizeof(uint32_t), sizeof(bpf::CpuTurn), cpus, BPF_F_MMAPABLE},
       {kTasks, BPF_MAP_TYPE_HASH, sizeof(uint64_t), sizeof(uint32_t), bpf::kMaxThreads},
       {kIdleTasks, BPF_MAP_TYPE_ARRAY, sizeof(uint32_t), sizeof(uint64_t), cpus},
       {kIdentities, BPF_MAP_TYPE_ARRAY, sizeof(uint32_t), sizeof(bpf::Identity), bpf::kIdentities}});
  if (!program) return std::move(program).error();
  auto attached = attach_to_tracepoint(program->program(), "sched_switch");
  if (!attached) return std::move(attached).error();
  return TurnParts{program->take_map(kTurns), program->take_map(kCpus), program->take_map(kIdentities),
                   std::move(*attached)};
}

}  // namespace tarsier::linux
