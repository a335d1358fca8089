#include "analysis/cct.h"

#include <algorithm>
#include <array>
#include <span>

#include "analysis/index_table.h"
#include "analysis/thread_kind.h"

namespace tarsier::analysis {
namespace {

constexpr const char* kRootName = "[all]";

std::string thread_label(const Thread& thread) {
  const int64_t id = thread.os_id != 0 ? thread.os_id : thread.java_id;
  return thread.name + " [tid " + std::to_string(id) + "]";
}

class Builder {
 public:
  Builder(const Model& model, Labels labels) : model_(model) {
    cct_.labels = std::move(labels);
    cct_.nodes.push_back({.label = cct_.labels.add(kRootName)});
    seen_in_.assign(model.stacks.size(), 0);
    weight_.assign(model.stacks.size(), 0);
    node_of_.assign(model.stacks.size(), 0);
  }

  // All rows of one group; their entry points become children of `top`.
  void add_group(uint32_t group, std::span<const StackWeight> rows, uint32_t top) {
    // Group numbers are shifted by one: 0 marks a stack that was never seen.
    collect(group + 1, rows);
    for (const StackWeight& row : rows) weight_[row.stack.value] += row.weight;
    for (auto i = touched_.rbegin(); i != touched_.rend(); ++i) {
      if (const uint32_t parent = parent_of(*i); parent != 0) weight_[parent] += weight_[*i];
    }
    node_of_[0] = top;
    for (const uint32_t stack : touched_) {
      const uint32_t node = child(node_of_[parent_of(stack)], cct_.labels.of(model_.stacks[stack]));
      node_of_[stack] = node;
      cct_.nodes[node].total += weight_[stack];
      parts_.push_back({node, model_.stacks[stack].line, model_.stacks[stack].type, weight_[stack]});
      weight_[stack] = 0;
    }
    for (const StackWeight& row : rows) {
      CctNode& node = cct_.nodes[node_of_[row.stack.value]];
      node.self += row.weight;
      node.samples += row.samples;
    }
  }

  uint32_t add_node(uint32_t parent, uint32_t label) {
    cct_.nodes.push_back({.parent = parent, .label = label});
    return static_cast<uint32_t>(cct_.nodes.size() - 1);
  }

  Cct& cct() { return cct_; }

  Cct finish() {
    set_heaviest_line_and_type(cct_, std::move(parts_));
    link_children(cct_);
    return std::move(cct_);
  }

 private:
  // A parent that does not come first would be a loop; load() never makes one.
  [[nodiscard]] uint32_t parent_of(uint32_t stack) const {
    const uint32_t parent = model_.stacks[stack].parent.value;
    return parent < stack ? parent : 0;
  }

  // The stacks of the rows and all their callers, callers first.
  void collect(uint32_t mark, std::span<const StackWeight> rows) {
    touched_.clear();
    for (const StackWeight& row : rows) {
      for (uint32_t stack = row.stack.value; stack != 0 && seen_in_[stack] != mark; stack = parent_of(stack)) {
        seen_in_[stack] = mark;
        touched_.push_back(stack);
      }
    }
    std::sort(touched_.begin(), touched_.end());
  }

  uint32_t child(uint32_t parent, uint32_t label) {
    auto& nodes = cct_.nodes;
    const auto hash = [&](uint32_t of_parent, uint32_t of_label) {
      return mix_hash(0, static_cast<uint64_t>(of_parent) << 32 | of_label);
    };
    const auto next = static_cast<uint32_t>(nodes.size());
    const uint32_t node = table_.find_or_enter(
        hash(parent, label), next, [&](uint32_t i) { return nodes[i].parent == parent && nodes[i].label == label; },
        [&](uint32_t i) { return hash(nodes[i].parent, nodes[i].label); });
    return node == next ? add_node(parent, label) : node;
  }

  const Model& model_;
  Cct cct_;
  IndexTable table_;
  std::vector<NodePart> parts_;
  std::vector<uint32_t> touched_;
  // By stack.
  std::vector<uint32_t> seen_in_;
  std::vector<int64_t> weight_;
  std::vector<uint32_t> node_of_;
};

}  // namespace

Cct build_cct(const Model& model, const WeightedStacks& weights, Labels labels, bool by_thread,
              const std::map<ThreadKind, Nanos>& unsampled) {
  Builder builder(model, std::move(labels));
  Cct& cct = builder.cct();
  const std::span<const StackWeight> rows(weights.rows);
  for (size_t begin = 0; begin < rows.size();) {
    size_t end = begin;
    int64_t weight = 0;
    for (; end < rows.size() && rows[end].group == rows[begin].group; ++end) weight += rows[end].weight;
    uint32_t top = 0;
    if (by_thread && rows[begin].group < model.threads.size()) {
      top = builder.add_node(0, cct.labels.add(thread_label(model.threads[rows[begin].group])));
      cct.nodes[top].total = weight;
    }
    builder.add_group(rows[begin].group, rows.subspan(begin, end - begin), top);
    begin = end;
  }
  cct.sampled_weight = weights.weight;
  cct.effective_samples = weights.effective_samples;
  cct.nodes[0].total = weights.weight;
  add_unsampled_roots(cct, unsampled);
  return builder.finish();
}

void add_unsampled_roots(Cct& cct, const std::map<ThreadKind, Nanos>& unsampled) {
  cct.first_unsampled = static_cast<uint32_t>(cct.nodes.size());
  for (const auto& [kind, cpu] : unsampled) {
    if (cpu.count <= 0) continue;
    const uint32_t label = cct.labels.add(std::string(unsampled_root_name(kind)));
    cct.nodes.push_back({.label = label, .self = cpu.count, .total = cpu.count});
    cct.nodes[0].total += cpu.count;
  }
}

void link_children(Cct& cct) {
  auto& nodes = cct.nodes;
  std::vector<uint32_t> order;
  for (uint32_t i = 1; i < nodes.size(); ++i) order.push_back(i);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    if (nodes[a].parent != nodes[b].parent) return nodes[a].parent < nodes[b].parent;
    if (nodes[a].total != nodes[b].total) return nodes[a].total > nodes[b].total;
    return nodes[a].label != nodes[b].label ? cct.name(nodes[a]) < cct.name(nodes[b]) : a < b;
  });
  for (size_t i = 0; i < order.size(); ++i) {
    CctNode& node = nodes[order[i]];
    if (i == 0 || nodes[order[i - 1]].parent != node.parent) {
      nodes[node.parent].first_child = order[i];
    } else {
      nodes[order[i - 1]].next_sibling = order[i];
    }
  }
}

void set_heaviest_line_and_type(Cct& cct, std::vector<NodePart> parts) {
  std::sort(parts.begin(), parts.end(),
            [](const NodePart& a, const NodePart& b) { return a.node != b.node ? a.node < b.node : a.line < b.line; });
  for (size_t i = 0; i < parts.size();) {
    const uint32_t node = parts[i].node;
    std::array<int64_t, static_cast<size_t>(FrameType::kCount)> by_type{};
    int64_t best_line = -1;
    while (i < parts.size() && parts[i].node == node) {
      const int32_t line = parts[i].line;
      int64_t of_line = 0;
      for (; i < parts.size() && parts[i].node == node && parts[i].line == line; ++i) {
        of_line += parts[i].weight;
        by_type[static_cast<size_t>(parts[i].type)] += parts[i].weight + 1;  // + 1: a type without weight is one too
      }
      if (of_line > best_line) {
        best_line = of_line;
        cct.nodes[node].line = line;
      }
    }
    const auto best_type = std::max_element(by_type.begin(), by_type.end());
    cct.nodes[node].type = static_cast<FrameType>(best_type - by_type.begin());
  }
}

}  // namespace tarsier::analysis
