#include "analysis/steal_weights.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "analysis/thread_kind.h"

namespace tarsier::analysis {
namespace {

double share_kept(Nanos cpu, Nanos steal) {
  if (cpu.count <= 0) return 1;
  return std::clamp(1 - static_cast<double>(steal.count) / static_cast<double>(cpu.count), 0.0, 1.0);
}

// Of the time between two points, the one around that moment; after the last, that before it.
double share_kept_at(std::span<const StealPoint> points, int64_t time_ns) {
  size_t next =
      static_cast<size_t>(std::lower_bound(points.begin(), points.end(), time_ns,
                                           [](const StealPoint& point, int64_t time) { return point.time_ns < time; }) -
                          points.begin());
  next = std::min(next, points.size() - 1);
  const StealPoint before = next > 0 ? points[next - 1] : StealPoint();
  return share_kept(points[next].cpu - before.cpu, points[next].steal - before.steal);
}

// Of virtual threads nobody keeps an account: theirs is that of all threads that did Java's work.
double share_kept_by_all(const Model& model) {
  Nanos cpu, steal;
  for (const Thread& thread : model.threads) {
    if (!thread.cpu || !thread.sampled) continue;
    cpu += *thread.cpu;
    steal += thread.resources.stolen();
  }
  return share_kept(cpu, steal);
}

}  // namespace

Status correct_for_steal(Model& model) {
  if (!model.machine) return Error{Errc::kUsage, "the recording does not know what the hypervisor took"};
  model.corrected = true;
  if (!model.machine->steal_in_cpu_time) return {};  // the kernel has done it
  const double of_all = share_kept_by_all(model);
  for (size_t i = 0; i < model.samples.size(); ++i) {
    const Sample sample = model.samples[i];
    const auto points = model.steal_points.find(sample.thread);
    const double kept = points == model.steal_points.end() ? of_all : share_kept_at(points->second, sample.time_ns);
    model.samples.set_weight(i, std::llround(static_cast<double>(sample.weight) * kept));
  }
  model.unsampled_cpu.clear();
  for (Thread& thread : model.threads) {
    if (thread.cpu) thread.cpu = model.machine->corrected(*thread.cpu, thread.resources);
    thread.carried = Nanos(std::llround(static_cast<double>(thread.carried.count) * of_all));
    add_unsampled_cpu(model.unsampled_cpu, thread);
  }
  model.machine->process_cpu = std::max(model.machine->process_cpu - model.machine->steal_of_threads, Nanos(0));
  model.machine->steal_in_cpu_time = false;
  return {};
}

}  // namespace tarsier::analysis
