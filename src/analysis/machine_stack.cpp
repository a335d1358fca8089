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

// `of_kind`: the CPU time of threads of a kind, without what was stolen.
template <class OfKind>
MachineStack stacked(OfKind of_kind, const MachineCpu* machine, Nanos duration) {
  MachineStack stack;
  for (const KindPart& part : kKindParts) stack.parts.push_back({part.name, part.color, of_kind(part.kind)});
  if (machine != nullptr) {
    const Nanos in_process = machine->process_cpu;
    const Nanos own = machine->steal_in_cpu_time ? in_process - machine->steal_of_threads : in_process;
    stack.whole_machine = true;
    stack.parts.push_back({"other processes", "#9aa0a6", std::max(machine->busy - own, Nanos(0))});
    stack.parts.push_back({"stolen by the hypervisor", "#d22f2f", std::max(machine->steal, Nanos(0))});
    stack.parts.push_back({"idle", "#e4e7eb", std::max(machine->idle, Nanos(0))});
  }
  for (const MachinePart& part : stack.parts) stack.whole += part.time;
  const auto length = static_cast<double>(duration.count);
  for (MachinePart& part : stack.parts) {
    part.cpus = length > 0 ? static_cast<double>(part.time.count) / length : 0;
    stack.cpus += part.cpus;
  }
  return stack;
}

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
  const KindSums kinds = sums_by_kind(model);
  const auto of_kind = [&](ThreadKind kind) {
    const KindSum& sum = kinds[static_cast<size_t>(kind)];
    return model.machine ? model.machine->corrected(sum.cpu, sum.resources) : sum.cpu;
  };
  return stacked(of_kind, model.machine ? &*model.machine : nullptr, model.duration);
}

std::vector<MachinePiece> machine_stack_over_time(const Model& model, size_t most) {
  std::vector<MachinePiece> pieces;
  if (!model.machine || model.machine_over_time.empty()) return pieces;
  const std::vector<MachineMoment>& moments = model.machine_over_time;
  const size_t step = (moments.size() + most - 1) / std::max<size_t>(most, 1);
  MachineMoment before;
  before.time_ns = model.start_ns;
  for (size_t i = std::min(step, moments.size()) - 1;; i = std::min(i + step, moments.size() - 1)) {
    const MachineMoment& now = moments[i];
    MachineCpu machine;
    machine.busy = now.busy - before.busy;
    machine.idle = now.idle - before.idle;
    machine.steal = now.steal - before.steal;
    machine.steal_of_threads = now.steal_of_threads - before.steal_of_threads;
    machine.process_cpu = now.process_cpu - before.process_cpu;
    machine.steal_in_cpu_time = model.machine->steal_in_cpu_time;
    const auto of_kind = [&](ThreadKind kind) {
      const size_t k = static_cast<size_t>(kind);
      const Nanos cpu = now.kinds[k].cpu - before.kinds[k].cpu, steal = now.kinds[k].steal - before.kinds[k].steal;
      return std::max(machine.steal_in_cpu_time ? cpu - steal : cpu, Nanos(0));
    };
    if (now.time_ns > before.time_ns) {
      pieces.push_back({before.time_ns, now.time_ns, stacked(of_kind, &machine, Nanos(now.time_ns - before.time_ns))});
      before = now;
    }
    if (i == moments.size() - 1) return pieces;
  }
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
