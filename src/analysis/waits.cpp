#include "analysis/waits.h"

#include <algorithm>
#include <map>
#include <utility>

namespace tarsier::analysis {

std::vector<uint32_t> chain_of(const Model& model, const Labels& labels, StackIndex stack) {
  std::vector<uint32_t> chain;
  // A node comes after its parent, so this ends.
  for (uint32_t node = stack.value; node != 0 && node < model.stacks.size(); node = model.stacks[node].parent.value) {
    chain.push_back(labels.of(model.stacks[node]));
    if (model.stacks[node].parent.value >= node) break;
  }
  return chain;
}

void WaitSum::add(int64_t length, bool goes_on) {
  ns += length;
  count += 1;
  longest = std::max(longest, length);
  ongoing += goes_on ? 1 : 0;
  ongoing_ns += goes_on ? length : 0;
}

WaitProfile wait_profile(const Model& model, const Selection& selection, const Labels& labels) {
  WaitProfile profile;
  profile.by_kind.resize(model.wait_kinds.size());
  // Stacks that differ only in lines are one chain.
  std::map<std::pair<uint8_t, std::vector<uint32_t>>, size_t> row_of_chain;
  std::map<std::pair<uint8_t, StackIndex>, size_t> row_of_stack;
  size_t index = 0;
  for (Sample sample : samples_of(model, Profile::kWaits)) {
    const WaitInfo info = model.waits[index++];
    if (!selection.take(sample, Profile::kWaits)) continue;
    const auto [known, is_new] = row_of_stack.try_emplace({info.kind, sample.stack}, profile.rows.size());
    if (is_new) {
      auto chain = chain_of(model, labels, sample.stack);
      known->second = row_of_chain.try_emplace({info.kind, chain}, profile.rows.size()).first->second;
      if (known->second == profile.rows.size()) profile.rows.push_back({info.kind, std::move(chain), {}});
    }
    profile.rows[known->second].sum.add(sample.weight, info.ongoing);
    profile.by_kind[info.kind].add(sample.weight, info.ongoing);
    profile.all.add(sample.weight, info.ongoing);
  }
  std::sort(profile.rows.begin(), profile.rows.end(), [&](const WaitRow& a, const WaitRow& b) {
    if (a.sum.ns != b.sum.ns) return a.sum.ns > b.sum.ns;
    if (a.kind != b.kind) return model.wait_kinds[a.kind] < model.wait_kinds[b.kind];
    const auto name_before = [&](uint32_t x, uint32_t y) { return labels.names[x] < labels.names[y]; };
    return std::lexicographical_compare(a.chain.begin(), a.chain.end(), b.chain.begin(), b.chain.end(), name_before);
  });
  return profile;
}

ThreadTime sum_of_times(const Model& model, const Selection& selection) {
  ThreadTime sum;
  if (!selection.whole_time()) return sum;
  for (const auto& [thread, time] : model.thread_times) {
    if (!selection.has(thread)) continue;
    for (size_t i = 0; i < sum.parts.size(); ++i) {
      sum.parts[i].time += time.parts[i].time;
      sum.parts[i].count += time.parts[i].count;
    }
  }
  return sum;
}

}  // namespace tarsier::analysis
