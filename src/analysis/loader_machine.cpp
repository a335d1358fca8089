// The handlers of events about threads' resources and the machine. All their numbers are cumulative: the last counts.
#include "analysis/bounded_numbers.h"
#include "analysis/loader.h"
#include "analysis/thread_kind.h"

namespace tarsier::analysis {

using recording::Chunk;
using recording::EventView;

static_assert(static_cast<size_t>(ThreadKind::kJfr) < MachineMoment::kKinds);

const Loader::WideType Loader::kMachineTypes[] = {
    {"tarsier.ThreadCpu",
     &Loader::thread_cpu,
     {"thread", "kind", "sampled", "cpu", "system", "runQueue", "voluntarySwitches", "involuntarySwitches",
      "minorFaults", "majorFaults", "migrations", "steal", "stealScheduled"}},
    {"tarsier.ThreadCounter", &Loader::thread_counter, {"thread", "name", "value", "enabled", "running"}},
    {"tarsier.MachineCpu",
     &Loader::machine_cpu,
     {"busy", "idle", "steal", "stealOfThreads", "stealOfOthers", "stealRemainder", "processCpu", "inCpuTime",
      "source"}},
};

void Loader::select_machine_types(Chunk& chunk) {
  for (const WideType& handled : kMachineTypes) select_wide(chunk, handled);
}

void Loader::thread_cpu(const Chunk& chunk, const EventView& event, const WideFields& fields) {
  constexpr size_t kFirstResource = 4;
  static_assert(kFirstResource + kResources == kMaxWideFields);
  const ThreadIndex index = resolve_thread(chunk, event.constant(fields[0]));
  Thread& thread = model_.threads[index.value];
  thread.kind = thread_kind_of_name(event.string(fields[1]));
  thread.sampled = thread.sampled || event.number(fields[2]) != 0;
  const Nanos cpu_before = thread.cpu.value_or(Nanos(0)), stolen_before = thread.resources.stolen();
  thread.cpu = as_nanos(event.number(fields[3]));
  for (size_t i = 0; i < kResources; ++i) {
    if (!fields[kFirstResource + i]) continue;
    const int64_t value = event.number(fields[kFirstResource + i]);
    if (value >= 0) thread.resources.values[i] = std::min(value, kMaxCount);
  }
  MachineMoment::Kind& kind = now_.kinds[static_cast<size_t>(thread.kind)];
  kind.cpu += std::max(*thread.cpu - cpu_before, Nanos(0));
  kind.steal += std::max(thread.resources.stolen() - stolen_before, Nanos(0));
  // While nothing is stolen, the end of that time is enough.
  std::vector<StealPoint>& points = model_.steal_points[index];
  const StealPoint now{event.start().count, *thread.cpu, thread.resources.stolen()};
  const size_t known = points.size();
  if (known >= 2 && points[known - 2].steal == now.steal) points.pop_back();
  points.push_back(now);
}

void Loader::thread_counter(const Chunk& chunk, const EventView& event, const WideFields& fields) {
  Counter& counter =
      model_.thread_counters[resolve_thread(chunk, event.constant(fields[0]))][std::string(event.string(fields[1]))];
  counter.value = std::clamp<int64_t>(event.number(fields[2]), 0, kMaxCount);
  counter.enabled = as_nanos(event.number(fields[3]));
  counter.running = as_nanos(event.number(fields[4]));
}

void Loader::machine_cpu(const Chunk&, const EventView& event, const WideFields& fields) {
  MachineCpu machine;
  machine.busy = as_nanos(event.number(fields[0]));
  machine.idle = as_nanos(event.number(fields[1]));
  machine.steal = as_nanos(event.number(fields[2]));
  machine.steal_of_threads = as_nanos(event.number(fields[3]));
  machine.steal_of_others = as_nanos(event.number(fields[4]));
  machine.steal_remainder = as_nanos(event.number(fields[5]));
  machine.process_cpu = as_nanos(event.number(fields[6]));
  machine.steal_in_cpu_time = event.string(fields[7]) == "included";
  machine.source = event.string(fields[8]);
  now_.time_ns = event.start().count;
  now_.busy = machine.busy;
  now_.idle = machine.idle;
  now_.steal = machine.steal;
  now_.steal_of_threads = machine.steal_of_threads;
  now_.process_cpu = machine.process_cpu;
  model_.machine_over_time.push_back(now_);
  model_.machine = std::move(machine);
}

}  // namespace tarsier::analysis
