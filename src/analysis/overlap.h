// How alike two calling context trees are: the measures of P. Hofer's thesis (JKU Linz 2016, section 3.4.2), after
// Zhuang et al. (PLDI 2006). All work on columns of edge weights of one JointTree; the weight of an edge is what was
// spent in its callee itself (thesis, section 3.1.2), so all edges together have the weight of the recording.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace tarsier::analysis {

using EdgeWeights = std::span<const double>;

// The weight of each edge as a share of all. Of a tree without weight: all 0.
std::vector<double> edge_shares(EdgeWeights weights);

// Degree of overlap: the sum over all edges of the smaller of their two shares. 1: the same, 0: nothing in common.
// Nothing can be said of a tree without weight.
std::optional<double> overlap(EdgeWeights a, EdgeWeights b);

// An edge is hot if its weight is at least `threshold` times that of the hottest edge of its tree; one without weight
// never is. Covered is the share of the hot edges of `of` that are hot in `by` too.
struct HotEdges {
  size_t by = 0, of = 0, both = 0;
  [[nodiscard]] std::optional<double> coverage() const {
    return of > 0 ? std::optional(static_cast<double>(both) / static_cast<double>(of)) : std::nullopt;
  }
};
HotEdges hot_edges(EdgeWeights by, EdgeWeights of, double threshold);
inline std::optional<double> hot_edge_coverage(EdgeWeights by, EdgeWeights of, double threshold) {
  return hot_edges(by, of, threshold).coverage();
}

// All edges of all trees, each with the arithmetic mean of its shares in them: every recording counts the same, however
// long it is.
std::vector<double> average_tree(std::span<const std::vector<double>> trees);

}  // namespace tarsier::analysis
