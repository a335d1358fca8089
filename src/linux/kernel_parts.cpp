#include "linux/kernel_parts.h"

#include <linux/bpf.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <sstream>

#include "linux/bpf_program.h"
#include "linux/cpus.h"

namespace tarsier::linux {
namespace {

// Names in the program.
constexpr const char* kThreads = "threads";
constexpr const char* kBottoms = "bottoms";
constexpr const char* kRing = "ring";
constexpr const char* kPeriods = "periods";
constexpr const char* kCounters = "counters";
constexpr const char* kScratches = "scratches";
constexpr const char* kIdentities = "identities";

// As its own, innermost pid namespace has it; 0 if that can't be found out.
uint32_t process_id(const std::string& process) {
  std::ifstream status(process + "/status");
  uint32_t id = 0;
  for (std::string line; std::getline(status, line);) {
    if (line.compare(0, 6, "NSpid:") != 0) continue;
    std::istringstream numbers(line.substr(6));
    while (numbers >> id) {
    }
  }
  return id;
}

// Only virtual threads need them.
uint32_t scratch_count(const bpf::Settings& settings) {
  return settings.java.virtual_threads.present != 0 ? static_cast<uint32_t>(possible_cpus()) : 1;
}

Result<BpfProgram> load_program(bpf::Settings& settings, const KernelPartsOptions& options) {
  const auto cpus = static_cast<uint32_t>(possible_cpus());
  settings.ring_bytes = options.ring_bytes;
  settings.max_deep_stack =
      std::clamp<uint64_t>(options.ring_bytes / 16, uint64_t{bpf::kMaxStack}, uint64_t{bpf::kMaxDeepStack});
  const std::vector<BpfMapPlan> maps = {
      // Allocated at once: the program runs where nothing can be.
      {kThreads, BPF_MAP_TYPE_HASH, sizeof(uint32_t), sizeof(bpf::Thread), bpf::kMaxThreads},
      {kBottoms, BPF_MAP_TYPE_ARRAY, sizeof(uint32_t), sizeof(bpf::Told), 1, BPF_F_MMAPABLE},
      {kRing, BPF_MAP_TYPE_RINGBUF, 0, 0, static_cast<uint32_t>(options.ring_bytes)},
      {kPeriods, BPF_MAP_TYPE_ARRAY, sizeof(uint32_t), sizeof(uint64_t), cpus},
      {kCounters, BPF_MAP_TYPE_PERCPU_ARRAY, sizeof(uint32_t), sizeof(bpf::Counters), 1},
      {kIdentities, BPF_MAP_TYPE_ARRAY, sizeof(uint32_t), sizeof(bpf::Identity), bpf::kIdentities},
      {kScratches, BPF_MAP_TYPE_ARRAY, sizeof(uint32_t), sizeof(bpf::Scratch), scratch_count(settings)}};
  const auto load = [&](bool task_registers) {
    settings.task_registers = task_registers ? 1 : 0;
    return BpfProgram::load(fragment_program(), BPF_PROG_TYPE_PERF_EVENT,
                            {reinterpret_cast<const uint8_t*>(&settings), sizeof(settings)}, maps);
  };
  if (options.old_kernel) return load(false);
  // Linux before 5.15 lacks a function for them, and a kernel without BTF the types.
  auto program = load(true);
  if (program || program.error().code != Errc::kUnsupported) return program;
  auto lesser = load(false);
  return lesser ? std::move(lesser) : std::move(program);
}

}  // namespace

Status aim_at(bpf::Settings& settings, const std::string& process) {
  const std::string path = process + "/ns/pid";
  struct stat space {};
  if (::stat(path.c_str(), &space) != 0) return errno_error("looking at " + path, errno);
  // The kernel's own form of a device number is not the one of stat().
  settings.namespace_device = uint64_t{major(space.st_dev)} << 20 | minor(space.st_dev);
  settings.namespace_inode = space.st_ino;
  settings.process = process_id(process);
  if (settings.process == 0) return Error{Errc::kFailed, "no process id in " + process + "/status"};
  return {};
}

Result<KernelParts> make_kernel_parts(bpf::Settings settings, const KernelPartsOptions& options) {
  auto program = load_program(settings, options);
  if (!program) return std::move(program).error();
  auto ticks = CpuTicks::open(online_cpus(), program->program());
  if (!ticks) return std::move(ticks).error();
  KernelParts parts;
  parts.threads = program->take_map(kThreads);
  parts.bottoms = program->take_map(kBottoms);
  parts.ring = program->take_map(kRing);
  parts.periods = program->take_map(kPeriods);
  parts.counters = program->take_map(kCounters);
  parts.identities = program->take_map(kIdentities);
  parts.ticks = std::move(*ticks);
  parts.scratch_bytes = scratch_count(settings) * sizeof(bpf::Scratch);
  parts.sees_kernel = settings.task_registers != 0;
  parts.hides_kernel = settings.hide_kernel != 0;
  return parts;
}

}  // namespace tarsier::linux
