#include "linux/wake_context.h"

#include "linux/kernel_symbols.h"

namespace tarsier::linux {
namespace {

// Many kernels do not say where their variables are (no CONFIG_KALLSYMS_ALL), but how far they are from each other,
// which is the same for all CPUs. One of them is found from every task: the run queue of the CPU that it is on.
void find_count_beside_queue(const KernelTypes& types, bpf::WakeContext& out) {
  constexpr const char* kOfCpus = ".data..percpu";
  const auto count = types.variable(kOfCpus, "__preempt_count"), queue = types.variable(kOfCpus, "runqueues");
  const auto entity = types.member("task_struct", "se"), of_group = types.member("sched_entity", "cfs_rq");
  const auto of_cpu = types.member("cfs_rq", "rq");
  if (!count || !queue || !entity || !of_group || !of_cpu) return;
  out.place = bpf::kCountBesideQueue;
  out.count = uint64_t{*count} - *queue;
  out.task_queue = uint64_t{entity->offset} + of_group->offset;
  out.queue_cpu = of_cpu->offset;
}

// Kernels for aarch64 count in the task, those for x86_64 in a variable of each CPU: a member of `pcpu_hot` from 6.2 to
// 6.14, else one of its own.
void find_count(const KernelTypes* types, const KernelPlaces& places, bpf::WakeContext& out) {
  if (types == nullptr) return;
  const auto info = types->member("task_struct", "thread_info");
  const auto in_task = types->member("thread_info", "preempt_count");
  if (info && in_task) {
    out.place = bpf::kCountInTask;
    out.count = info->offset + in_task->offset;
    return;
  }
  const uint64_t offsets = places.of("__per_cpu_offset"), hot = places.of("pcpu_hot");
  const auto in_hot = types->member("pcpu_hot", "preempt_count");
  const uint64_t count = hot != 0 && in_hot ? hot + in_hot->offset : places.of("__preempt_count");
  if (offsets == 0 || count == 0) return find_count_beside_queue(*types, out);
  out.place = bpf::kCountOfCpu;
  out.count = count;
  out.cpu_offsets = offsets;
}

void find_names(const KernelTypes* types, bpf::WakeContext& out) {
  if (types == nullptr) return;
  const auto leader = types->member("task_struct", "group_leader");
  const auto name = types->member("task_struct", "comm");
  if (!leader || !name) return;
  out.task_leader = leader->offset;
  out.task_name = name->offset;
}

}  // namespace

bpf::WakeContext find_wake_context(const KernelTypes* types, const std::string& symbols) {
  bpf::WakeContext context{};
  const KernelPlaces places = KernelPlaces::read({"net_rx_action", "__local_bh_enable_ip", "irq_exit_rcu", "irq_exit",
                                                  "__per_cpu_offset", "pcpu_hot", "__preempt_count"},
                                                 symbols);
  const auto function = [&](const char* name) { return bpf::KernelFunction{places.of(name), places.end_of(name)}; };
  context.wanted = 1;
  find_count(types, places, context);
  find_names(types, context);
  context.delivers = function("net_rx_action");
  context.lets_deliver = function("__local_bh_enable_ip");
  context.ends_interrupt[0] = function("irq_exit_rcu");
  context.ends_interrupt[1] = function("irq_exit");
  return context;
}

}  // namespace tarsier::linux
