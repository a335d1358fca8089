#include "analysis/lock_profile.h"

#include <algorithm>
#include <utility>

#include "analysis/contentions.h"
#include "analysis/index_table.h"

namespace tarsier::analysis {
namespace {

class Builder {
 public:
  Builder(const AspectKeys& keys, LockProfile& profile) : keys_(keys), profile_(profile) {
    profile_.nodes.emplace_back();
    open_.push_back({});
  }

  void add(const Contention& contention, std::span<const Piece> pieces) {
    for (const Piece& piece : pieces) {
      const int64_t length = piece.end_ns - piece.begin_ns;
      profile_.by_owner[static_cast<size_t>(piece.owner.kind)] += length;
      uint32_t node = 0;
      add(node, length);
      for (const LockAspect aspect : profile_.by) {
        node = child(node, keys_.key(aspect, contention, piece));
        add(node, length);
      }
    }
    for (const uint32_t node : touched_) {
      profile_.nodes[node].contentions.add(open_[node].ns);
      open_[node] = {};
    }
    touched_.clear();
  }

 private:
  // What the contention that is being added has in a node.
  struct Open {
    int64_t ns = 0;
    bool touched = false;
  };

  void add(uint32_t node, int64_t length) {
    profile_.nodes[node].blocked_ns += length;
    if (!open_[node].touched) touched_.push_back(node);
    open_[node].touched = true;
    open_[node].ns += length;
  }

  uint32_t child(uint32_t parent, uint32_t key) {
    auto& nodes = profile_.nodes;
    const auto hash = [](uint32_t of, uint32_t with) { return mix_hash(of, with); };
    const auto next = static_cast<uint32_t>(nodes.size());
    const uint32_t found = table_.find_or_enter(
        hash(parent, key), next, [&](uint32_t i) { return nodes[i].parent == parent && nodes[i].key == key; },
        [&](uint32_t i) { return hash(nodes[i].parent, nodes[i].key); });
    if (found == next) {
      LockNode node;
      node.parent = parent;
      node.key = key;
      node.level = nodes[parent].level + 1;
      nodes.push_back(std::move(node));
      nodes[parent].children.push_back(next);
      open_.push_back({});
    }
    return found;
  }

  const AspectKeys& keys_;
  LockProfile& profile_;
  IndexTable table_;
  std::vector<Open> open_;         // by node
  std::vector<uint32_t> touched_;  // nodes
};

void sort_children(LockProfile& profile, const AspectKeys& keys) {
  for (LockNode& node : profile.nodes) {
    if (node.children.empty()) continue;
    const LockAspect aspect = profile.by[node.level];
    std::sort(node.children.begin(), node.children.end(), [&](uint32_t a, uint32_t b) {
      const LockNode& x = profile.nodes[a];
      const LockNode& y = profile.nodes[b];
      if (x.blocked_ns != y.blocked_ns) return x.blocked_ns > y.blocked_ns;
      // Not by key, which depends on the order of the file.
      return keys.label(aspect, x.key) < keys.label(aspect, y.key);
    });
  }
}

}  // namespace

LockProfile lock_profile(const Model& model, const LockCode& code, const Selection& selection, const AspectKeys& keys,
                         std::vector<LockAspect> by) {
  LockProfile profile;
  profile.by = std::move(by);
  const bool all_groups = std::find(profile.by.begin(), profile.by.end(), LockAspect::kGroup) != profile.by.end();
  Builder builder(keys, profile);
  for_each_contention(model, code, selection, [&](const Contention& contention, std::span<const Piece> pieces) {
    profile.by_group[static_cast<size_t>(contention.group)] += contention.end_ns - contention.begin_ns;
    if (all_groups || is_lock(contention.group)) builder.add(contention, pieces);
  });
  sort_children(profile, keys);
  return profile;
}

}  // namespace tarsier::analysis
