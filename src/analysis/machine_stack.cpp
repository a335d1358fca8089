#include "analysis/machine_stack.h"

#include <algorithm>

namespace tarsier::analysis {
namespace {

struct KindPart {
  ThreadKind kind;
  const char* name;
  const char* color;
};
constexpr KindPart kKindParts[] = {
    {ThreadKind::kApp, "application", "#2f7d4f"},
    {ThreadKind::kGc, "GC", "#c2571a"},
    {ThreadKind::kJit, "JIT", "#3d6fb6"},
    {ThreadKind::kVm, "VM", "#7a5ba8"},
    {ThreadKind::kJfr, "JFR", "#8c6d1f"},
    {ThreadKind::kTarsier, "tarsier", "#b03a6f"},
    {ThreadKind::kOther, "other threads", "#5b7a7a"},
};

}  // namespace

KindSums sums_by_kind(const Model& model) {
  KindSums sums;
  for (const Thread& thread : model.threads) {
    if (!thread.cpu) continue;
    KindSum& sum = sums[static_cast<size_t>(thread.kind)];
    ++sum.threads;
    // So low that all of them can be added.
    constexpr int64_t kMost = int64_t{1} << 59;
    sum.cpu = Nanos(std::min(sum.cpu.count + thread.cpu->count, kMost));
    sum.resources.add(thread.resources);
  }
  return sums;
}

MachineStack machine_stack(const Model& model) {
  MachineStack stack;
  const KindSums kinds = sums_by_kind(model);
  for (const KindPart& part : kKindParts) {
    stack.parts.push_back({part.name, part.color, kinds[static_cast<size_t>(part.kind)].cpu});
  }
  if (model.machine) {
    const MachineCpu& machine = *model.machine;
    const Nanos in_process = machine.process_cpu;
    // Where stolen time is part of the threads' CPU time, it must not show twice.
    if (machine.steal_in_cpu_time) {
      for (size_t i = 0; i < std::size(kKindParts); ++i) {
        const KindSum& sum = kinds[static_cast<size_t>(kKindParts[i].kind)];
        stack.parts[i].time = machine.corrected(sum.cpu, sum.resources);
      }
    }
    const Nanos own = machine.steal_in_cpu_time ? in_process - machine.steal_of_threads : in_process;
    stack.whole_machine = true;
    stack.parts.push_back({"other processes", "#9aa0a6", std::max(machine.busy - own, Nanos(0))});
    stack.parts.push_back({"stolen by the hypervisor", "#d22f2f", machine.steal});
    stack.parts.push_back({"idle", "#e4e7eb", machine.idle});
  }
  for (const MachinePart& part : stack.parts) stack.whole += part.time;
  const auto length = static_cast<double>(model.duration.count);
  for (MachinePart& part : stack.parts) {
    part.cpus = length > 0 ? static_cast<double>(part.time.count) / length : 0;
    stack.cpus += part.cpus;
  }
  return stack;
}

std::vector<StealRow> steal_profile(const Model& model, const Selection& selection) {
  std::vector<StealRow> rows;
  if (!model.machine) return rows;
  for (uint32_t i = 0; i < model.threads.size(); ++i) {
    const Thread& thread = model.threads[i];
    if (!thread.cpu || thread.cpu->count == 0 || !selection.has(ThreadIndex(i))) continue;
    rows.push_back({ThreadIndex(i), *thread.cpu, Nanos(thread.resources.of(Resource::kSteal).value_or(0)),
                    model.machine->corrected(*thread.cpu, thread.resources)});
  }
  std::stable_sort(rows.begin(), rows.end(), [](const StealRow& a, const StealRow& b) {
    return a.steal != b.steal ? a.steal > b.steal : a.cpu > b.cpu;
  });
  return rows;
}

std::string pool_of_thread(std::string_view name) {
  const size_t last = name.find_last_not_of("0123456789");
  if (last == std::string_view::npos || last + 1 == name.size()) return {};
  return std::string(name.substr(0, last + 1)) + "*";
}

}  // namespace tarsier::analysis
