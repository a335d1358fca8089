#include "linux/turn_parts.h"

#include <linux/bpf.h>

#include <utility>

#include "linux/bpf_program.h"
#include "linux/cpus.h"

namespace tarsier::linux {

Result<TurnParts> make_turn_parts(const bpf::Settings& settings) {
  constexpr const char *kTurns = "turns", *kCpus = "cpus", *kTasks = "tasks";
  // Allocated at once: the program runs where nothing can be.
  auto program = BpfProgram::load(turns_program(), BPF_PROG_TYPE_RAW_TRACEPOINT,
                                  {reinterpret_cast<const uint8_t*>(&settings), sizeof(settings)},
                                  {{kTurns, BPF_MAP_TYPE_HASH, sizeof(bpf::TurnKey), sizeof(uint64_t), bpf::kMaxTurns},
                                   {kCpus, BPF_MAP_TYPE_ARRAY, sizeof(uint32_t), sizeof(bpf::CpuTurn),
                                    static_cast<uint32_t>(possible_cpus()), BPF_F_MMAPABLE},
                                   {kTasks, BPF_MAP_TYPE_HASH, sizeof(uint64_t), sizeof(uint32_t), bpf::kMaxThreads}});
  if (!program) return std::move(program).error();
  auto attached = attach_to_tracepoint(program->program(), "sched_switch");
  if (!attached) return std::move(attached).error();
  return TurnParts{program->take_map(kTurns), program->take_map(kCpus), std::move(*attached)};
}

}  // namespace tarsier::linux
