#include "analysis/callers.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tarsier::analysis {
namespace {

struct Cursor {
  uint32_t stack = 0;  // the frame that this path has reached
  int64_t weight = 0;
  uint64_t samples = 0;
};

struct Work {
  uint32_t node = 0;  // whose callers are to be found
  uint32_t depth = 0;
  std::vector<Cursor> paths;  // all at frames of that node; disjoint between pieces of work
};

}  // namespace

Cct build_callers(const Model& model, const WeightedStacks& weights, Labels labels, const CallerLimits& limits,
                  const std::map<ThreadKind, Nanos>& unsampled) {
  Cct cct;
  cct.labels = std::move(labels);
  cct.nodes.push_back({.label = cct.labels.add("[all]"), .total = weights.weight});
  cct.sampled_weight = weights.weight;
  cct.effective_samples = weights.effective_samples;
  const double share = std::max(limits.min_share, CallerLimits::kMinShare);
  const auto min_weight = static_cast<int64_t>(std::ceil(share * static_cast<double>(weights.weight)));
  std::vector<NodePart> parts;

  const auto label_of = [&](const Cursor& path) { return cct.labels.of(model.stacks[path.stack]); };
  // Adds the frames at which `paths` stand as children of `parent`, one per label.
  const auto add_children = [&](uint32_t parent, uint32_t depth, std::vector<Cursor> paths, std::vector<Work>& todo) {
    std::sort(paths.begin(), paths.end(), [&](const Cursor& a, const Cursor& b) {
      return label_of(a) != label_of(b) ? label_of(a) < label_of(b) : a.stack < b.stack;
    });
    for (auto begin = paths.begin(); begin != paths.end();) {
      const uint32_t label = label_of(*begin);
      const auto end = std::find_if(begin, paths.end(), [&](const Cursor& path) { return label_of(path) != label; });
      CctNode node{.parent = parent, .label = label};
      for (auto path = begin; path != end; ++path) {
        node.total += path->weight;
        node.samples += path->samples;
      }
      if (node.total >= min_weight) {
        const auto index = static_cast<uint32_t>(cct.nodes.size());
        for (auto path = begin; path != end; ++path) {
          parts.push_back({index, model.stacks[path->stack].line, model.stacks[path->stack].type, path->weight});
        }
        cct.nodes.push_back(node);
        if (depth < limits.max_depth) todo.push_back({index, depth, std::vector<Cursor>(begin, end)});
      }
      begin = end;
    }
  };

  std::vector<Work> todo;
  std::vector<Cursor> leaves;
  for (const StackWeight& row : weights.rows) {
    if (row.stack.value != 0) leaves.push_back({row.stack.value, row.weight, row.samples});
  }
  add_children(0, 1, std::move(leaves), todo);
  while (!todo.empty()) {
    Work work = std::move(todo.back());
    todo.pop_back();
    size_t kept = 0;
    for (Cursor& path : work.paths) {
      const uint32_t parent = model.stacks[path.stack].parent.value;
      if (parent == 0 || parent >= path.stack) {
        cct.nodes[work.node].self += path.weight;
      } else {
        work.paths[kept++] = {parent, path.weight, path.samples};
      }
    }
    work.paths.resize(kept);
    add_children(work.node, work.depth + 1, std::move(work.paths), todo);
  }
  add_unsampled_roots(cct, unsampled);
  set_heaviest_line_and_type(cct, std::move(parts));
  link_children(cct);
  return cct;
}

}  // namespace tarsier::analysis
