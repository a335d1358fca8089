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
  for (uint32_t i = 1; i < cct.first_unsampled; ++i) {
    rows[cct.nodes[i].label].self += cct.nodes[i].self;
    rows[cct.nodes[i].label].samples += cct.nodes[i].samples;
  }
  add_totals(cct, rows);
  // Roots that were not sampled are no methods, nor is a thread that trees were split by.
  // Nor is a marker, but time that ended in one ([failed: ...]) is shown.
  std::vector<bool> is_method(rows.size(), false);
  for (const uint32_t label : cct.labels.of_method) is_method[label] = true;
  std::vector<bool> is_marker(rows.size(), false);
  for (const CctNode& node : cct.nodes) is_marker[node.label] = node.type == FrameType::kMarker;
  std::erase_if(rows, [&](const HotMethod& row) {
    return !is_method[row.label] || row.total == 0 || (is_marker[row.label] && row.self == 0);
  });
  for (HotMethod& row : rows) {
    const double share =
        cct.sampled_weight > 0 ? static_cast<double>(row.self) / static_cast<double>(cct.sampled_weight) : 0;
    row.self_ci95 = wilson_95(share, cct.effective_samples);
  }
  std::sort(rows.begin(), rows.end(), [&](const HotMethod& a, const HotMethod& b) {
    if (a.self != b.self) return a.self > b.self;
    if (a.total != b.total) return a.total > b.total;
    return cct.labels.names[a.label] < cct.labels.names[b.label];
  });
  return rows;
}

}  // namespace tarsier::analysis
