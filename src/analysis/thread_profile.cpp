#include "analysis/thread_profile.h"

#include <algorithm>

namespace tarsier::analysis {

std::vector<ThreadRow> thread_profile(const Model& model, const Selection& selection) {
  const bool by_cpu = model.profile == Profile::kCpu;
  std::vector<ThreadRow> rows(model.threads.size());
  for (uint32_t i = 0; i < rows.size(); ++i) rows[i].thread = ThreadIndex(i);
  for (Sample sample : model.samples) {
    if (!selection.take(sample, model.profile) || sample.thread.value >= rows.size()) continue;
    rows[sample.thread.value].sampled += sample.weight;
    rows[sample.thread.value].samples += sample.count;
  }
  for (ThreadRow& row : rows) {
    const Thread& thread = model.threads[row.thread.value];
    row.measured = thread.cpu.has_value() && selection.whole_time();
    row.cpu = row.measured ? std::max(*thread.cpu - thread.carried, Nanos(0)) : Nanos(by_cpu ? row.sampled : 0);
  }
  // Who was never blocked, or kept nobody waiting, is of interest beside those who were.
  const bool all_that_ran = by_cpu || is_of_locks(model.profile);
  std::erase_if(rows, [&](const ThreadRow& row) {
    return !selection.has(row.thread) || ((!all_that_ran || row.cpu.count == 0) && row.samples == 0);
  });
  std::sort(rows.begin(), rows.end(), [&](const ThreadRow& a, const ThreadRow& b) {
    if (!by_cpu && a.sampled != b.sampled) return a.sampled > b.sampled;
    if (a.cpu != b.cpu) return a.cpu > b.cpu;
    const Thread& first = model.threads[a.thread.value];
    const Thread& second = model.threads[b.thread.value];
    if (first.name != second.name) return first.name < second.name;
    return first.os_id != second.os_id ? first.os_id < second.os_id : a.thread < b.thread;
  });
  return rows;
}

}  // namespace tarsier::analysis
