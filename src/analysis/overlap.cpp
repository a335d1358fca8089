#include "analysis/overlap.h"

#include <algorithm>
#include <numeric>

namespace tarsier::analysis {

std::vector<double> edge_shares(EdgeWeights weights) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<double> shares(weights.begin(), weights.end());
  for (double& share : shares) share = sum > 0 ? share / sum : 0;
  return shares;
}

std::optional<double> overlap(EdgeWeights a, EdgeWeights b) {
  const double sum_a = std::accumulate(a.begin(), a.end(), 0.0);
  const double sum_b = std::accumulate(b.begin(), b.end(), 0.0);
  if (!(sum_a > 0) || !(sum_b > 0)) return std::nullopt;
  double common = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) common += std::min(a[i] / sum_a, b[i] / sum_b);
  return std::min(common, 1.0);
}

HotEdges hot_edges(EdgeWeights by, EdgeWeights of, double threshold) {
  // Weights are sums of whole nanoseconds or means of shares: the last bits must not decide about the border.
  constexpr double kRounding = 1 - 1e-12;
  const auto least = [threshold](EdgeWeights weights) {
    const double hottest = weights.empty() ? 0 : *std::max_element(weights.begin(), weights.end());
    return threshold * hottest * kRounding;
  };
  const double least_by = least(by), least_of = least(of);
  HotEdges hot;
  for (size_t i = 0; i < std::min(by.size(), of.size()); ++i) {
    const bool in_by = by[i] > 0 && by[i] >= least_by;
    const bool in_of = of[i] > 0 && of[i] >= least_of;
    hot.by += in_by ? 1 : 0;
    hot.of += in_of ? 1 : 0;
    hot.both += in_by && in_of ? 1 : 0;
  }
  return hot;
}

std::vector<double> average_tree(std::span<const std::vector<double>> trees) {
  std::vector<double> mean;
  for (const std::vector<double>& tree : trees) {
    const std::vector<double> shares = edge_shares(tree);
    mean.resize(std::max(mean.size(), shares.size()));
    for (size_t i = 0; i < shares.size(); ++i) mean[i] += shares[i] / static_cast<double>(trees.size());
  }
  return mean;
}

}  // namespace tarsier::analysis
