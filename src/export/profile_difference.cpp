#include "export/profile_difference.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "analysis/stable_name.h"
#include "export/columns.h"

namespace tarsier::exporting {
namespace {

double weight_of(const analysis::Model& model, analysis::Profile profile) {
  double sum = 0;
  for (const analysis::Sample& sample : samples_of(model, profile)) sum += static_cast<double>(sample.weight);
  return sum;
}

class Joiner {
 public:
  explicit Joiner(PageThreads& threads) : threads_(threads) {}

  // `scale`: of what goes into before; none: the nodes are those that go into self.
  void add(const ProfileTree& tree, const PageThreads& of_tree, const double* scale) {
    std::vector<uint32_t> names;
    names.reserve(tree.names.size());
    for (const std::string& name : tree.names) names.push_back(intern(analysis::stable_name(name)));
    size_t next = 0;
    for (const TreeThread& thread : tree.threads) {
      std::vector<TreeNode>& nodes = entry_of(threads_.row_of_name(PageThread(of_tree[thread.row])));
      for (uint32_t i = 0; i < thread.nodes; ++i) {
        TreeNode node = tree.nodes[next++];
        node.name = names[node.name];
        if (scale != nullptr) {
          const double before = static_cast<double>(node.self) * *scale;
          node.before = std::llround(std::min(before, static_cast<double>(kMaxColumnNumber)));
          node.self = 0;
        }
        nodes.push_back(node);
      }
    }
  }

  ProfileTree finish() {
    ProfileTree tree;
    tree.compared = true;
    for (const auto& [row, nodes] : entries_) {
      tree.threads.push_back({row, static_cast<uint32_t>(nodes.size())});
      tree.nodes.insert(tree.nodes.end(), nodes.begin(), nodes.end());
    }
    tree.names = std::move(names_);
    return tree;
  }

 private:
  uint32_t intern(const std::string& name) {
    const auto [found, fresh] = ids_.try_emplace(name, static_cast<uint32_t>(names_.size()));
    if (fresh) names_.push_back(name);
    return found->second;
  }
  std::vector<TreeNode>& entry_of(uint32_t row) {
    const auto [found, fresh] = place_.try_emplace(row, entries_.size());
    if (fresh) entries_.push_back({row, {}});
    return entries_[found->second].second;
  }

  PageThreads& threads_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, uint32_t> ids_;
  std::vector<std::pair<uint32_t, std::vector<TreeNode>>> entries_;  // by row of the threads
  std::map<uint32_t, size_t> place_;
};

}  // namespace

double scale_of(const analysis::Model& before, const analysis::Model& after, analysis::Profile profile,
                analysis::Per per) {
  if (per == analysis::Per::kSecond) return in_seconds(after.duration) / in_seconds(before.duration);
  return per == analysis::Per::kShare ? weight_of(after, profile) / weight_of(before, profile) : 1;
}

ProfileTree join_trees(const ProfileTree& after, PageThreads& threads, const ProfileTree& before,
                       const PageThreads& threads_before, double scale) {
  Joiner joiner(threads);
  joiner.add(after, threads, nullptr);
  joiner.add(before, threads_before, &scale);
  return joiner.finish();
}

}  // namespace tarsier::exporting
