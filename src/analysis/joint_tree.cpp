#include "analysis/joint_tree.h"

#include <unordered_map>

#include "analysis/index_table.h"
#include "analysis/selection.h"
#include "analysis/stable_name.h"

namespace tarsier::analysis {
namespace {

constexpr const char* kJointRoot = "[all]";
constexpr const char* kNoStackName = "[no stack]";

class Joiner {
 public:
  explicit Joiner(bool signatures) : signatures_(signatures) { tree_.nodes.push_back({0, label(kJointRoot)}); }

  void add(const Model& model) {
    std::vector<uint32_t> labels;
    labels.reserve(model.methods.size());
    for (const Method& method : model.methods) {
      labels.push_back(label(stable_name(method.name) + (signatures_ ? method.descriptor : std::string())));
    }
    std::vector<uint32_t>& node_of = tree_.node_of_stack.emplace_back(model.stacks.size(), JointTree::kNoNode);
    std::vector<double>& self = tree_.self.emplace_back();
    for (const StackWeight& row : weigh_stacks(model, Selection()).rows) {
      const uint32_t node = enter(model, labels, row.stack.value, node_of);
      self.resize(tree_.nodes.size());
      self[node] += static_cast<double>(row.weight);
    }
  }

  JointTree finish() {
    for (std::vector<double>& self : tree_.self) self.resize(tree_.nodes.size());
    return std::move(tree_);
  }

 private:
  uint32_t label(std::string name) {
    const auto [found, fresh] = label_of_.try_emplace(name, static_cast<uint32_t>(tree_.labels.size()));
    if (fresh) tree_.labels.push_back(std::move(name));
    return found->second;
  }

  // The stack's node, with those of all its callers.
  uint32_t enter(const Model& model, const std::vector<uint32_t>& labels, uint32_t stack,
                 std::vector<uint32_t>& node_of) {
    if (node_of[stack] != JointTree::kNoNode) return node_of[stack];
    if (stack == 0) return node_of[0] = child(0, label(kNoStackName));
    path_.clear();
    uint32_t outer = stack;
    while (outer != 0 && node_of[outer] == JointTree::kNoNode) {
      path_.push_back(outer);
      const uint32_t parent = model.stacks[outer].parent.value;
      outer = parent < outer ? parent : 0;  // anything else would be a loop; load() never makes one
    }
    uint32_t node = outer == 0 ? 0 : node_of[outer];
    for (auto inner = path_.rbegin(); inner != path_.rend(); ++inner) {
      node = node_of[*inner] = child(node, labels[model.stacks[*inner].method.value]);
    }
    return node;
  }

  uint32_t child(uint32_t parent, uint32_t label) {
    auto& nodes = tree_.nodes;
    const auto hash = [](const JointNode& node) {
      return mix_hash(0, static_cast<uint64_t>(node.parent) << 32 | node.label);
    };
    const JointNode wanted{parent, label};
    const auto next = static_cast<uint32_t>(nodes.size());
    const uint32_t node = table_.find_or_enter(
        hash(wanted), next, [&](uint32_t i) { return nodes[i].parent == parent && nodes[i].label == label; },
        [&](uint32_t i) { return hash(nodes[i]); });
    if (node == next) nodes.push_back(wanted);
    return node;
  }

  bool signatures_;
  JointTree tree_;
  IndexTable table_;
  std::unordered_map<std::string, uint32_t> label_of_;
  std::vector<uint32_t> path_;
};

}  // namespace

JointTree join_trees(std::span<const Model> models, bool signatures) {
  Joiner joiner(signatures);
  for (const Model& model : models) joiner.add(model);
  return joiner.finish();
}

}  // namespace tarsier::analysis
