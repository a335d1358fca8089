#include "export/page_waits.h"

#include <algorithm>

#include "export/columns.h"
#include "export/page_chains.h"

namespace tarsier::exporting {
namespace {

using analysis::Sample;
using analysis::WaitInfo;

struct Wait {
  Sample sample;
  WaitInfo info;
};

int64_t add(int64_t sum, int64_t ns) {
  return std::min(sum + std::clamp<int64_t>(ns, 0, kMaxColumnNumber), kMaxColumnNumber);
}

// The longest, by their begin. At no time there are more than twice as many.
std::vector<Wait> longest_of(const analysis::Model& model, size_t most, PageWaits& out) {
  std::vector<Wait> waits;
  const auto drop_shorter = [&] {
    if (waits.size() <= most) return;
    const auto end = waits.begin() + static_cast<std::ptrdiff_t>(most);
    std::nth_element(waits.begin(), end, waits.end(), [](const Wait& a, const Wait& b) {
      return a.sample.weight != b.sample.weight ? a.sample.weight > b.sample.weight
                                                : a.sample.time_ns < b.sample.time_ns;
    });
    waits.erase(end, waits.end());
  };
  size_t index = 0;
  for (const Sample& sample : samples_of(model, analysis::Profile::kWaits)) {
    if (index >= model.waits.size()) break;
    const WaitInfo& info = model.waits[index++];
    out.waits += 1;
    out.total_ns = add(out.total_ns, sample.weight);
    if (waits.size() >= 2 * std::max<size_t>(most, 1)) drop_shorter();
    waits.push_back({sample, info});
  }
  drop_shorter();
  std::stable_sort(waits.begin(), waits.end(),
                   [](const Wait& a, const Wait& b) { return a.sample.time_ns < b.sample.time_ns; });
  return waits;
}

}  // namespace

PageWaits encode_waits(const analysis::Model& model, const PageThreads& threads, const PageTime& time, size_t most) {
  PageWaits out;
  PageChains chains(model);
  std::vector<int64_t> begin, length, thread, kind, chain, ongoing, woken_by, waker, waker_chain, process;
  for (const Wait& wait : longest_of(model, most, out)) {
    const WaitInfo& info = wait.info;
    out.kept += 1;
    out.kept_ns = add(out.kept_ns, wait.sample.weight);
    begin.push_back(time.since_start(wait.sample.time_ns));
    length.push_back(wait.sample.weight);
    thread.push_back(threads.has(wait.sample.thread) ? threads.row_of(wait.sample.thread) : 0);
    kind.push_back(info.kind);
    chain.push_back(chains.chain_of(wait.sample.stack));
    ongoing.push_back(info.ongoing ? 1 : 0);
    woken_by.push_back(static_cast<int64_t>(info.woken_by));
    waker.push_back(info.has_waker && threads.has(info.waker) ? 1 + int64_t{threads.row_of(info.waker)} : 0);
    waker_chain.push_back(chains.chain_of(info.waker_stack));
    const bool by_process = info.woken_by == analysis::WokenBy::kProcess && info.process < model.waker_processes.size();
    process.push_back(by_process ? 1 + int64_t{info.process} : 0);
  }
  ColumnWriter writer;
  chains.put(writer);
  writer.texts("kinds", model.wait_kinds);
  writer.texts("processes", model.waker_processes);
  writer.differences("begin", begin);
  writer.numbers("length", length);
  writer.numbers("thread", thread);
  writer.numbers("kind", kind);
  writer.numbers("chain", chain);
  writer.sparse("ongoing", ongoing);
  writer.numbers("woken_by", woken_by);
  writer.numbers("waker", waker);
  writer.numbers("waker_chain", waker_chain);
  writer.sparse("process", process);
  out.bytes = std::move(writer).finish();
  return out;
}

}  // namespace tarsier::exporting
