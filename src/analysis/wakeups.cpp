#include "analysis/wakeups.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tarsier::analysis {
namespace {

constexpr std::string_view kNames[] = {"unknown", "thread", "jvm", "process", "interrupt", "ongoing"};
static_assert(std::size(kNames) == static_cast<size_t>(WokenBy::kCount));

int64_t end_of(int64_t begin, int64_t length) {
  int64_t end = 0;
  return __builtin_add_overflow(begin, length, &end) ? INT64_MAX : end;
}

// What a hop is known by, with stacks or with labels for these.
void add_hop(std::vector<uint32_t>& key, const Model& model, const Wakeups::Hop& hop) {
  const WaitInfo& wait = model.waits[hop.ended];
  const bool by_thread = wait.woken_by == WokenBy::kJvm && wait.has_waker;  // it has no chain
  key.push_back(static_cast<uint32_t>(wait.woken_by));
  key.push_back(wait.woken_by == WokenBy::kProcess ? wait.process : by_thread ? wait.waker.value : 0);
  key.push_back(hop.waited ? model.waits[*hop.waited].kind + 1U : 0);
}

void add_chain(std::vector<uint32_t>& key, const std::vector<uint32_t>& chain) {
  key.push_back(static_cast<uint32_t>(chain.size()));
  key.insert(key.end(), chain.begin(), chain.end());
}

}  // namespace

std::string_view woken_by_name(WokenBy by) {
  return kNames[std::min(static_cast<size_t>(by), std::size(kNames) - 1)];
}

Wakeups::Wakeups(const Model& model) : model_(model) {
  const Samples& samples = samples_of(model, Profile::kWaits);
  const size_t count = std::min(samples.size(), model.waits.size());
  waits_.reserve(count);
  for (const Sample& sample : samples) {
    if (waits_.size() == count) break;
    const Interval interval{sample.time_ns, end_of(sample.time_ns, sample.weight), waits_.size()};
    waits_.push_back(interval);
    threads_.push_back(sample.thread.value);
    stacks_.push_back(sample.stack);
    by_thread_[sample.thread.value].push_back(interval);
  }
  for (auto& [thread, waits] : by_thread_) {
    std::sort(waits.begin(), waits.end(), [](const Interval& a, const Interval& b) {
      return std::pair(a.end, a.index) < std::pair(b.end, b.index);
    });
  }
}

size_t Wakeups::last_of_same(size_t wait) const {
  constexpr int64_t kALook = 100'000'000;  // it may have to queue for a CPU to look
  constexpr int kMostLooks = 1000;
  const uint8_t kind = model_.waits[wait].kind;
  if (kind >= model_.wait_kinds.size() || model_.wait_kinds[kind] != "monitor") return wait;
  const auto& all = by_thread_.at(threads_[wait]);
  auto at = std::lower_bound(all.begin(), all.end(), waits_[wait], [](const Interval& a, const Interval& b) {
    return std::pair(a.end, a.index) < std::pair(b.end, b.index);
  });
  for (int i = 0; i < kMostLooks; ++i) {
    const auto next = at + 1;
    if (model_.waits[at->index].woken_by != WokenBy::kInterrupt || next == all.end()) break;
    const bool same = model_.waits[next->index].kind == kind && stacks_[next->index] == stacks_[wait];
    if (!same || next->begin < at->end || next->begin > end_of(at->end, kALook)) break;
    at = next;
  }
  return at->index;
}

const Wakeups::Interval* Wakeups::before(ThreadIndex thread, int64_t time) const {
  const auto all = by_thread_.find(thread.value);
  if (all == by_thread_.end()) return nullptr;
  const auto after = std::upper_bound(all->second.begin(), all->second.end(), time,
                                      [](int64_t at, const Interval& interval) { return at < interval.end; });
  return after == all->second.begin() ? nullptr : &*(after - 1);
}

std::vector<Wakeups::Hop> Wakeups::of(size_t wait) const {
  const Interval first = waits_[wait];
  std::vector<uint32_t> seen{threads_[wait]};
  std::vector<Hop> hops;
  while (true) {
    Hop& hop = hops.emplace_back();
    hop.ended = last_of_same(wait);
    const WaitInfo& info = model_.waits[hop.ended];
    if (info.woken_by != WokenBy::kThread || !info.has_waker) return hops;
    if (std::find(seen.begin(), seen.end(), info.waker.value) != seen.end()) return hops;
    seen.push_back(info.waker.value);
    const Interval* waited = before(info.waker, waits_[hop.ended].end);
    if (waited == nullptr || waited->end < first.begin || hops.size() == kMostHops) return hops;
    const int64_t until = std::min(waited->end, first.end);
    const int64_t within = until - std::clamp(waited->begin, first.begin, until);
    if (within < (first.end - first.begin) / kLeastPart || within <= 0) return hops;
    hop.waited = waited->index;
    hop.waited_ns = within;
    wait = waited->index;
  }
}

WokenProfile woken_profile(const Model& model, const Selection& selection, const Labels& labels) {
  const Wakeups wakeups(model);
  WokenProfile profile;
  // Stacks that differ only in lines are one chain.
  std::map<std::vector<uint32_t>, size_t> row_of_chains, row_of_stacks;
  size_t index = 0;
  for (Sample sample : samples_of(model, Profile::kWaits)) {
    const size_t number = index++;
    if (!selection.take(sample, Profile::kWaits)) continue;
    const WaitInfo& info = model.waits[number];
    const std::vector<Wakeups::Hop> hops = wakeups.of(number);
    std::vector<uint32_t> stacks{info.kind, sample.stack.value};
    for (const Wakeups::Hop& hop : hops) {
      add_hop(stacks, model, hop);
      stacks.push_back(model.waits[hop.ended].waker_stack.value);
    }
    const auto [known, is_new] = row_of_stacks.try_emplace(std::move(stacks), profile.rows.size());
    if (is_new) {
      WokenRow row;
      row.kind = info.kind;
      row.chain = chain_of(model, labels, sample.stack);
      std::vector<uint32_t> chains{info.kind};
      add_chain(chains, row.chain);
      for (const Wakeups::Hop& hop : hops) {
        const WaitInfo& ended = model.waits[hop.ended];
        WakerRow& waker = row.hops.emplace_back();
        waker.by = ended.woken_by;
        waker.process = ended.process;
        waker.chain = chain_of(model, labels, ended.waker_stack);
        if (hop.waited) waker.waited = model.waits[*hop.waited].kind;
        add_hop(chains, model, hop);
        add_chain(chains, waker.chain);
      }
      known->second = row_of_chains.try_emplace(std::move(chains), profile.rows.size()).first->second;
      if (known->second == profile.rows.size()) profile.rows.push_back(std::move(row));
    }
    WokenRow& row = profile.rows[known->second];
    for (size_t i = 0; i < hops.size(); ++i) {
      const WaitInfo& ended = model.waits[hops[i].ended];
      row.hops[i].waited_ns += hops[i].waited_ns;
      if (ended.has_waker) row.hops[i].time[ended.waker] += sample.weight;
    }
    row.sum.add(sample.weight, info.ongoing);
    profile.by[model.waits[hops[0].ended].woken_by].add(sample.weight, info.ongoing);
    profile.all.add(sample.weight, info.ongoing);
  }
  std::stable_sort(profile.rows.begin(), profile.rows.end(), [&](const WokenRow& a, const WokenRow& b) {
    if (a.sum.ns != b.sum.ns) return a.sum.ns > b.sum.ns;
    if (a.kind != b.kind) return model.wait_kinds[a.kind] < model.wait_kinds[b.kind];
    const auto name_before = [&](uint32_t x, uint32_t y) { return labels.names[x] < labels.names[y]; };
    return std::lexicographical_compare(a.chain.begin(), a.chain.end(), b.chain.begin(), b.chain.end(), name_before);
  });
  return profile;
}

}  // namespace tarsier::analysis
