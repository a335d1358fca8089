#include "analysis/comparison.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "analysis/engine_account.h"
#include "analysis/overlap.h"
#include "analysis/thread_kind.h"

namespace tarsier::analysis {
namespace {

// Of every tree, and of the average as the last.
void relate_trees(Comparison& comparison, double threshold) {
  std::vector<EdgeWeights> trees(comparison.tree.self.begin(), comparison.tree.self.end());
  trees.emplace_back(comparison.average);
  for (const EdgeWeights& one : trees) {
    std::vector<double>& overlaps = comparison.overlap.emplace_back();
    std::vector<double>& coverages = comparison.coverage.emplace_back();
    for (const EdgeWeights& other : trees) {
      overlaps.push_back(overlap(one, other).value_or(0));
      coverages.push_back(hot_edge_coverage(one, other, threshold).value_or(0));
    }
    comparison.hot_edges.push_back(hot_edges(one, one, threshold).of);
  }
}

Consistency consistency_of(const Comparison& comparison) {
  const size_t average = comparison.tree.self.size();
  std::vector<double> overlap_of_pairs, overlap_with_average, coverage_of_pairs, coverage_by_average;
  for (size_t i = 0; i < average; ++i) {
    overlap_with_average.push_back(comparison.overlap[i][average]);
    coverage_by_average.push_back(comparison.coverage[average][i]);
    for (size_t j = 0; j < average; ++j) {
      if (i < j) overlap_of_pairs.push_back(comparison.overlap[i][j]);
      if (i != j) coverage_of_pairs.push_back(comparison.coverage[i][j]);
    }
  }
  return {.overlap_of_pairs = quartiles_of(overlap_of_pairs),
          .overlap_with_average = quartiles_of(overlap_with_average),
          .coverage_of_pairs = quartiles_of(coverage_of_pairs),
          .coverage_by_average = quartiles_of(coverage_by_average)};
}

std::vector<UnsampledChange> compare_unsampled(const Model& before, const Model& after, Per per) {
  std::vector<UnsampledChange> changes;
  if (per == Per::kShare || before.profile != Profile::kCpu) return changes;
  std::set<ThreadKind> kinds;
  for (const Model* model : {&before, &after}) {
    for (const auto& [kind, cpu] : model->unsampled_cpu) kinds.insert(kind);
  }
  const auto amount = [per](const Model& model, ThreadKind kind) {
    const auto found = model.unsampled_cpu.find(kind);
    const double cpu = found == model.unsampled_cpu.end() ? 0 : static_cast<double>(found->second.count);
    return per == Per::kSecond ? cpu / in_seconds(model.duration) : cpu;
  };
  for (const ThreadKind kind : kinds) {
    changes.push_back({std::string(unsampled_root_name(kind)), amount(before, kind), amount(after, kind)});
  }
  return changes;
}

}  // namespace

Status check_comparable(std::span<const Model> models, Per per) {
  for (const Model& model : models) {
    const auto add = [](int64_t sum, const Sample& sample) { return sum + sample.weight; };
    if (std::accumulate(model.samples.begin(), model.samples.end(), int64_t{0}, add) <= 0) {
      return Error{Errc::kFailed, model.file + " has no samples of the " + std::string(about(model.profile).what)};
    }
    if (per == Per::kShare) continue;
    if (!tells_its_period(model)) {
      return Error{Errc::kUsage, model.file + " does not tell its sampling period, so its samples stand for no time; " +
                                     "--per share compares the shares of its methods"};
    }
    if (per == Per::kSecond && model.duration.count <= 0) {
      return Error{Errc::kUsage, model.file + " does not tell how long it lasted, so nothing is known per second; " +
                                     "--per share compares the shares of its methods"};
    }
  }
  return {};
}

Quartiles quartiles_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    const double place = share * static_cast<double>(values.size() - 1);
    const auto low = static_cast<size_t>(place);
    const size_t high = std::min(low + 1, values.size() - 1);
    return values[low] + (place - std::floor(place)) * (values[high] - values[low]);
  };
  return {at(0), at(0.25), at(0.5), at(0.75), at(1)};
}

std::vector<AverageMethod> average_methods(const JointTree& tree) {
  const ContextRows by_method(tree, RowsBy::kSelf);
  std::vector<AverageMethod> methods(tree.labels.size());
  for (size_t i = 0; i < tree.self.size(); ++i) {
    const std::vector<double> shares = by_method.sums(edge_shares(tree.self[i]));
    for (uint32_t label = 0; label < shares.size(); ++label) {
      AverageMethod& method = methods[label];
      method.label = label;
      method.mean += shares[label] / static_cast<double>(tree.self.size());
      method.least = i == 0 ? shares[label] : std::min(method.least, shares[label]);
      method.most = std::max(method.most, shares[label]);
    }
  }
  std::erase_if(methods, [](const AverageMethod& method) { return method.most == 0; });
  std::sort(methods.begin(), methods.end(), [&](const AverageMethod& a, const AverageMethod& b) {
    return a.mean != b.mean ? a.mean > b.mean : tree.labels[a.label] < tree.labels[b.label];
  });
  return methods;
}

Result<Comparison> compare(std::span<const Model> models, const CompareOptions& options) {
  if (Status checked = check_comparable(models, options.changes.per); !checked) return std::move(checked).error();
  Comparison comparison;
  comparison.tree = join_trees(models, options.signatures);
  comparison.average = average_tree(comparison.tree.self);
  relate_trees(comparison, options.threshold);
  if (models.size() > 2) comparison.consistency = consistency_of(comparison);
  if (models.size() != 2) return comparison;
  comparison.changes = find_changes(models[0], models[1], comparison.tree, options.changes);
  comparison.unsampled = compare_unsampled(models[0], models[1], options.changes.per);
  return comparison;
}

}  // namespace tarsier::analysis
