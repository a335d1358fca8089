#include "analysis/context_rows.h"

#include <algorithm>
#include <utility>

namespace tarsier::analysis {
namespace {

std::vector<bool> find_outermost(const JointTree& tree) {
  const auto count = static_cast<uint32_t>(tree.nodes.size());
  std::vector<uint32_t> first_child(count, 0), next_sibling(count, 0);
  for (uint32_t i = count; i-- > 1;) {
    next_sibling[i] = std::exchange(first_child[tree.nodes[i].parent], i);
  }
  std::vector<bool> outermost(count, false);
  std::vector<bool> on_path(tree.labels.size(), false);
  uint32_t node = count > 0 ? first_child[0] : 0;
  while (node != 0) {
    const uint32_t label = tree.nodes[node].label;
    outermost[node] = !on_path[label];
    on_path[label] = true;
    if (first_child[node] != 0) {
      node = first_child[node];
      continue;
    }
    // Leave this node, and every caller that has no further callee.
    while (node != 0) {
      if (outermost[node]) on_path[tree.nodes[node].label] = false;
      if (next_sibling[node] != 0) break;
      node = tree.nodes[node].parent;
    }
    if (node != 0) node = next_sibling[node];
  }
  return outermost;
}

uint32_t node_of(const JointTree& tree, size_t recording, const Sample& sample) {
  const std::vector<uint32_t>& nodes = tree.node_of_stack[recording];
  return sample.stack.value < nodes.size() ? nodes[sample.stack.value] : JointTree::kNoNode;
}

}  // namespace

TimeSlices::TimeSlices(const Model& model, SliceClock clock) {
  std::vector<std::pair<int64_t, double>> by_time;  // and weight
  by_time.reserve(model.samples.size());
  for (const Sample& sample : model.samples) by_time.emplace_back(sample.time_ns, sample.weight);
  if (by_time.empty()) return;
  std::sort(by_time.begin(), by_time.end());
  const auto part = [](size_t slice) { return static_cast<double>(slice + 1) / static_cast<double>(kSlices); };

  if (clock == SliceClock::kWall) {
    // A recording that does not tell how long it is lasts from its first sample to its last.
    const bool told = model.duration.count > 0;
    const auto start = static_cast<double>(told ? model.start_ns : by_time.front().first);
    const double length =
        told ? static_cast<double>(model.duration.count) : static_cast<double>(by_time.back().first) - start;
    for (size_t i = 0; i < ends_.size(); ++i) ends_[i] = static_cast<int64_t>(start + part(i) * length);
    return;
  }
  double all = 0;
  for (const auto& [time, weight] : by_time) all += weight;
  double sum = 0;
  size_t next = 0;
  for (const auto& [time, weight] : by_time) {
    while (next < ends_.size() && sum >= part(next) * all) ends_[next++] = time;
    sum += weight;
  }
  for (; next < ends_.size(); ++next) ends_[next] = INT64_MAX;
}

size_t TimeSlices::of(const Sample& sample) const {
  return static_cast<size_t>(std::upper_bound(ends_.begin(), ends_.end(), sample.time_ns) - ends_.begin());
}

ContextRows::ContextRows(const JointTree& tree, RowsBy by) : tree_(tree), by_(by) {
  if (by == RowsBy::kTotal) outermost_ = find_outermost(tree);
}

std::vector<double> ContextRows::sums(std::vector<double> of_nodes) const {
  if (by_ == RowsBy::kContext) return of_nodes;
  std::vector<double> rows(size());
  if (by_ == RowsBy::kSelf) {
    for (size_t i = 1; i < of_nodes.size(); ++i) rows[tree_.nodes[i].label] += of_nodes[i];
    return rows;
  }
  for (size_t i = of_nodes.size(); i-- > 1;) {
    if (outermost_[i]) rows[tree_.nodes[i].label] += of_nodes[i];
    of_nodes[tree_.nodes[i].parent] += of_nodes[i];
  }
  return rows;
}

RowWeights weigh_rows(const Model& model, const JointTree& tree, size_t recording, const ContextRows& rows) {
  std::vector<double> squares(tree.nodes.size()), samples(tree.nodes.size());
  for (const Sample& sample : model.samples) {
    const uint32_t node = node_of(tree, recording, sample);
    if (node == JointTree::kNoNode) continue;
    squares[node] += static_cast<double>(sample.weight) * static_cast<double>(sample.weight);
    samples[node] += sample.count;
  }
  return {rows.sums(tree.self[recording]), rows.sums(std::move(squares)), rows.sums(std::move(samples))};
}

std::vector<Slices> slice_rows(const Model& model, const JointTree& tree, size_t recording, const ContextRows& rows,
                               std::span<const uint32_t> wanted, const TimeSlices& slices) {
  std::array<std::vector<std::pair<uint32_t, double>>, kSlices> in_slice;
  for (const Sample& sample : model.samples) {
    const uint32_t node = node_of(tree, recording, sample);
    if (node != JointTree::kNoNode) in_slice[slices.of(sample)].emplace_back(node, sample.weight);
  }
  std::vector<Slices> result(wanted.size());
  for (size_t slice = 0; slice < kSlices; ++slice) {
    std::vector<double> of_nodes(tree.nodes.size());
    for (const auto& [node, weight] : in_slice[slice]) of_nodes[node] += weight;
    const std::vector<double> of_rows = rows.sums(std::move(of_nodes));
    for (size_t i = 0; i < wanted.size(); ++i) result[i][slice] = of_rows[wanted[i]];
  }
  return result;
}

Slices slice_all(const Model& model, const TimeSlices& slices) {
  Slices result{};
  for (const Sample& sample : model.samples) result[slices.of(sample)] += static_cast<double>(sample.weight);
  return result;
}

}  // namespace tarsier::analysis
