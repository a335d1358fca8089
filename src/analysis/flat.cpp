#include "analysis/flat.h"

#include <algorithm>

namespace tarsier::analysis {
namespace {

// Adds up totals of outermost occurrences only: one walk over the tree that remembers which labels are on the path.
void add_totals(const Cct& cct, std::vector<HotMethod>& rows) {
  const auto& nodes = cct.nodes;
  std::vector<bool> on_path(rows.size(), false);
  std::vector<bool> entered(nodes.size(), false);  // this node put its label on the path
  uint32_t node = nodes[0].first_child;
  while (node != 0) {
    const uint32_t label = nodes[node].label;
    if (!on_path[label]) {
      on_path[label] = true;
      entered[node] = true;
      rows[label].total += nodes[node].total;
    }
    if (nodes[node].first_child != 0) {
      node = nodes[node].first_child;
      continue;
    }
    // Leave this node, and every ancestor that has no further child.
    while (node != 0) {
      if (entered[node]) on_path[nodes[node].label] = false;
      if (nodes[node].next_sibling != 0) break;
      node = nodes[node].parent;
    }
    if (node != 0) node = nodes[node].next_sibling;
  }
}

}  // namespace

std::vector<HotMethod> flat_profile(const Cct& cct) {
  std::vector<HotMethod> rows(cct.labels.names.size());
  for (uint32_t i = 0; i < rows.size(); ++i) rows[i].label = i;
  // Rows are methods, markers in which time ended ([failed: ...]), and what was not sampled. A thread that the tree was
  // split by is none of them.
  std::vector<bool> is_row(rows.size(), false);
  std::vector<bool> is_sampled(rows.size(), false);
  for (const uint32_t label : cct.labels.of_method) is_row[label] = is_sampled[label] = true;
  for (uint32_t i = 1; i < cct.nodes.size(); ++i) {
    const CctNode& node = cct.nodes[i];
    rows[node.label].self += node.self;
    rows[node.label].samples += node.samples;
    if (i >= cct.first_unsampled) is_row[node.label] = true;
  }
  for (const CctNode& node : cct.nodes) {
    if (node.type == FrameType::kMarker && rows[node.label].self == 0) is_row[node.label] = false;
  }
  add_totals(cct, rows);
  std::erase_if(rows, [&](const HotMethod& row) { return !is_row[row.label] || row.total == 0; });
  const auto sampled = static_cast<double>(cct.sampled_weight);
  const auto all = static_cast<double>(cct.nodes[0].total);
  for (HotMethod& row : rows) {
    const auto self = static_cast<double>(row.self);
    row.self_ci95 = {self / all, self / all};
    if (!is_sampled[row.label]) continue;
    const Interval of_sampled = wilson_95(sampled > 0 ? self / sampled : 0, cct.effective_samples);
    row.self_ci95 = {of_sampled.low * sampled / all, of_sampled.high * sampled / all};
  }
  std::sort(rows.begin(), rows.end(), [&](const HotMethod& a, const HotMethod& b) {
    if (a.self != b.self) return a.self > b.self;
    if (a.total != b.total) return a.total > b.total;
    return cct.labels.names[a.label] < cct.labels.names[b.label];
  });
  return rows;
}

}  // namespace tarsier::analysis
