#include "export/flame_difference.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "analysis/stable_name.h"

namespace tarsier::exporting {
namespace {

double weight_of(const analysis::Model& model) {
  double sum = 0;
  for (const analysis::Sample& sample : model.samples) sum += static_cast<double>(sample.weight);
  return sum;
}

class Joiner {
 public:
  // `scale`: of what goes into before_ns; none: the nodes are those that go into self_ns.
  void add(const FlameTree& tree, const double* scale) {
    std::vector<uint32_t> names;
    names.reserve(tree.names.size());
    for (const std::string& name : tree.names) names.push_back(intern(analysis::stable_name(name)));
    size_t next = 0;
    for (const FlameThread& thread : tree.threads) {
      Entry& entry = entry_of(tree.names[thread.name], thread);
      for (uint32_t i = 0; i < thread.nodes; ++i) {
        FlameNode node = tree.nodes[next++];
        node.name = names[node.name];
        if (scale != nullptr) {
          const double before = static_cast<double>(node.self_ns) * *scale;
          node.before_ns = std::llround(std::min(before, static_cast<double>(kMaxFlameWeight)));
          node.self_ns = 0;
        }
        entry.nodes.push_back(node);
      }
    }
  }

  FlameTree finish() {
    FlameTree tree;
    tree.compared = true;
    for (Entry& entry : entries_) {
      entry.thread.name = intern(entry.name);
      entry.thread.nodes = static_cast<uint32_t>(entry.nodes.size());
      tree.threads.push_back(entry.thread);
      tree.nodes.insert(tree.nodes.end(), entry.nodes.begin(), entry.nodes.end());
    }
    tree.names = std::move(names_);
    return tree;
  }

 private:
  struct Entry {
    std::string name;
    FlameThread thread;
    std::vector<FlameNode> nodes;
  };

  uint32_t intern(const std::string& name) {
    const auto [found, fresh] = ids_.try_emplace(name, static_cast<uint32_t>(names_.size()));
    if (fresh) names_.push_back(name);
    return found->second;
  }

  Entry& entry_of(const std::string& name, const FlameThread& thread) {
    const auto [found, fresh] = entry_of_name_.try_emplace(name, entries_.size());
    if (fresh) entries_.push_back({name, thread, {}});
    return entries_[found->second];
  }

  std::vector<std::string> names_;
  std::unordered_map<std::string, uint32_t> ids_;
  std::vector<Entry> entries_;
  std::map<std::string, size_t> entry_of_name_;
};

}  // namespace

double scale_of(const analysis::Model& before, const analysis::Model& after, analysis::Per per) {
  if (per == analysis::Per::kSecond) return in_seconds(after.duration) / in_seconds(before.duration);
  return per == analysis::Per::kShare ? weight_of(after) / weight_of(before) : 1;
}

FlameTree join_flame_trees(const FlameTree& after, const FlameTree& before, double scale) {
  Joiner joiner;
  joiner.add(after, nullptr);
  joiner.add(before, &scale);
  return joiner.finish();
}

}  // namespace tarsier::exporting
