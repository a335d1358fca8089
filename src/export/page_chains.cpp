#include "export/page_chains.h"

namespace tarsier::exporting {

PageChains::PageChains(const analysis::Model& model)
    : model_(model),
      labels_(analysis::label_methods(model, false)),
      name_of_(labels_.names.size(), kNone),
      of_stack_(model.stacks.size(), kNone) {
  nodes_.emplace_back();
}

uint32_t PageChains::label_of(analysis::MethodIndex method) {
  uint32_t& name = name_of_[labels_.of_method[method.value]];
  if (name == kNone) {
    name = static_cast<uint32_t>(names_.size());
    names_.push_back(labels_.names[labels_.of_method[method.value]]);
  }
  return name;
}

uint32_t PageChains::chain_of(analysis::StackIndex stack) {
  path_.clear();
  uint32_t node = stack.value;
  // A node comes after its parent, so this ends.
  while (node != 0 && node < of_stack_.size() && of_stack_[node] == kNone) {
    path_.push_back(node);
    const uint32_t parent = model_.stacks[node].parent.value;
    node = parent < node ? parent : 0;
  }
  uint32_t chain = node != 0 && node < of_stack_.size() ? of_stack_[node] : 0;
  for (size_t i = path_.size(); i-- > 0;) {
    const uint32_t parent = chain;
    const uint32_t label = label_of(model_.stacks[path_[i]].method) + 1;
    const auto next = static_cast<uint32_t>(nodes_.size());
    chain = table_.find_or_enter(
        analysis::mix_hash(parent, label), next,
        [&](uint32_t c) { return nodes_[c].parent == parent && nodes_[c].label_and_1 == label; },
        [&](uint32_t c) { return analysis::mix_hash(nodes_[c].parent, nodes_[c].label_and_1); });
    if (chain == next) nodes_.push_back({parent, label});
    of_stack_[path_[i]] = chain;
  }
  return chain;
}

void PageChains::put(ColumnWriter& out) const {
  std::vector<int64_t> parents, labels;
  for (const Node& node : nodes_) {
    parents.push_back(node.parent);
    labels.push_back(node.label_and_1 == 0 ? 0 : node.label_and_1 - 1);
  }
  out.texts("labels", names_);
  out.numbers("chain_parent", parents);
  out.numbers("chain_label", labels);
}

}  // namespace tarsier::exporting
