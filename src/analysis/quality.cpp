#include "analysis/quality.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "analysis/index_table.h"

namespace tarsier::analysis {
namespace {

// "[failed: unwalkable]" -> "unwalkable". The marker is the outermost frame; inside it there may be what was seen.
std::string failure_cause(const Model& model, StackIndex stack) {
  uint32_t node = stack.value;
  while (node < model.stacks.size() && model.stacks[node].parent.value != 0 && model.stacks[node].parent.value < node) {
    node = model.stacks[node].parent.value;
  }
  if (node == 0 || node >= model.stacks.size()) return "unknown";
  std::string_view name = model.methods[model.stacks[node].method.value].name;
  constexpr std::string_view kStart = "[failed: ";
  if (name.starts_with(kStart)) name.remove_prefix(kStart.size());
  if (name.ends_with(']')) name.remove_suffix(1);
  return std::string(name);
}

// Failed stacks are not counted: their frames are no calls that were seen.
uint64_t count_edges(const Model& model, const std::vector<bool>& stack_used) {
  std::vector<bool> used = stack_used;
  KeyMap seen;
  uint32_t edges = 0;
  for (size_t i = used.size(); i-- > 1;) {
    if (!used[i]) continue;
    const StackNode& node = model.stacks[i];
    if (node.parent.value == 0 || node.parent.value >= i) continue;
    used[node.parent.value] = true;
    const StackNode& caller = model.stacks[node.parent.value];
    if (caller.type == FrameType::kMarker || node.type == FrameType::kMarker) continue;
    uint32_t& edge = seen[static_cast<uint64_t>(caller.method.value) << 32 | node.method.value];
    if (edge == KeyMap::kNone) edge = edges++;
  }
  return edges;
}

uint64_t counter(const Engine& engine, const char* name) {
  const auto it = engine.counters.find(name);
  return it == engine.counters.end() ? 0 : static_cast<uint64_t>(std::max<int64_t>(it->second, 0));
}

std::optional<Quality::Latency> latency_of(const Engine& engine) {
  if (!engine.counters.contains("latency p50 (ns)")) return std::nullopt;
  const auto ns = [&](const char* name) { return Nanos(static_cast<int64_t>(counter(engine, name))); };
  return Quality::Latency{ns("latency p50 (ns)"), ns("latency p90 (ns)"), ns("latency p99 (ns)"),
                          ns("latency max (ns)")};
}

// "started by: anchor" and its like; false if the engine has none.
bool add_ways(const Engine& engine, std::map<std::string, uint64_t>& ways) {
  constexpr std::string_view kStart = "started by: ";
  bool any = false;
  for (const auto& [name, count] : engine.counters) {
    if (!name.starts_with(kStart) || count <= 0) continue;
    ways[name.substr(kStart.size())] += static_cast<uint64_t>(count);
    any = true;
  }
  return any;
}

}  // namespace

Quality assess_quality(const Model& model, const Selection& selection, Profile profile) {
  Quality quality;
  std::map<StackIndex, uint64_t> failed;
  std::vector<bool> stack_used(model.stacks.size(), false);
  for (Sample sample : samples_of(model, profile)) {
    if (!selection.take(sample, profile)) continue;
    quality.samples += sample.count;
    quality.weight += sample.weight;
    if (sample.imprecise) {
      quality.imprecise += 1;
      quality.imprecise_weight += sample.weight;
    }
    if (sample.failed) {
      failed[sample.stack] += 1;
      quality.failed_weight += sample.weight;
      continue;
    }
    (sample.truncated ? quality.incomplete : quality.complete) += sample.count;
    if (sample.stack.value < stack_used.size()) stack_used[sample.stack.value] = true;
  }
  for (const auto& [stack, count] : failed) quality.failed[failure_cause(model, stack)] += count;
  uint64_t unchecked = 0;
  for (const Engine& engine : model.engines) {
    if (engine.written == 0 || !engine.samples_for(profile)) continue;
    if (engine.is_lock()) {
      quality.by_mechanism[engine.mechanism] = quality.samples;  // it has written events, of several types
      continue;
    }
    if (!add_ways(engine, quality.by_mechanism)) quality.by_mechanism[engine.mechanism] += engine.written;
    quality.edges_checked += counter(engine, "edges: right") + counter(engine, "edges: wrong");
    quality.bad_edges += counter(engine, "edges: wrong");
    unchecked += counter(engine, "edges: uncheckable");
    if (!quality.latency) quality.latency = latency_of(engine);
    quality.has_native |= engine.counters.contains("native: samples in native code");
    quality.native += counter(engine, "native: samples in native code");
    quality.native_complete += counter(engine, "native: with all their native frames");
    quality.native_between += counter(engine, "native: samples with native code between Java frames");
    quality.native_between_complete += counter(engine, "native: with all frames of it");
  }
  quality.edges = quality.edges_checked > 0 ? quality.edges_checked + unchecked : count_edges(model, stack_used);
  return quality;
}

}  // namespace tarsier::analysis
