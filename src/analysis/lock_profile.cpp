#include "analysis/lock_profile.h"

#include <algorithm>
#include <utility>

#include "analysis/contentions.h"

namespace tarsier::analysis {
namespace {

// Locks can be as many as contentions. A node takes up to a kilobyte, but those of rare locks some 200 bytes.
constexpr size_t kMostNodes = 1'000'000;

bool is_of_owner(LockAspect aspect) {
  return aspect == LockAspect::kOwnerThread || aspect == LockAspect::kOwnerMethod || aspect == LockAspect::kOwnerChain;
}

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

LockProfileBuilder::LockProfileBuilder(std::vector<LockAspect> by)
    : all_groups_(std::find(by.begin(), by.end(), LockAspect::kGroup) != by.end()) {
  profile_.by = std::move(by);
  profile_.nodes.emplace_back();
  open_.push_back(kUntouched);
  while (owner_level_ < profile_.by.size() && !is_of_owner(profile_.by[owner_level_])) ++owner_level_;
}

void LockProfileBuilder::add(const AspectKeys& keys, const Contention& contention, std::span<const Piece> pieces) {
  const int64_t length = contention.end_ns - contention.begin_ns;
  profile_.by_group[static_cast<size_t>(contention.group)] += length;
  if (!all_groups_ && !is_lock(contention.group)) return;
  uint32_t node = 0;
  for (size_t level = 0;; ++level) {
    LockNode& at = profile_.nodes[node];
    at.blocked_ns += length;
    at.contentions.add(length);
    if (level == owner_level_) break;
    node = child(node, keys.key(profile_.by[level], contention, pieces.front()));
  }
  add_pieces(keys, node, contention, pieces);
  for (const uint32_t each : touched_) {
    LockNode& at = profile_.nodes[each];
    at.blocked_ns += open_[each];
    at.contentions.add(open_[each]);
    open_[each] = kUntouched;
  }
  touched_.clear();
}

void LockProfileBuilder::add_pieces(const AspectKeys& keys, uint32_t node, const Contention& contention,
                                    std::span<const Piece> pieces) {
  const std::span<const LockAspect> aspects = std::span(profile_.by).subspan(owner_level_);
  for (const Piece& piece : pieces) {
    const int64_t length = piece.end_ns - piece.begin_ns;
    profile_.by_owner[static_cast<size_t>(piece.owner.kind)] += length;
    uint32_t at = node;
    for (const LockAspect aspect : aspects) {
      at = child(at, is_of_owner(aspect) ? keys.owner_key(aspect, piece.owner) : keys.key(aspect, contention, piece));
      int64_t& open = open_[at];
      if (open == kUntouched) {
        touched_.push_back(at);
        open = 0;
      }
      open += length;
    }
  }
}

uint32_t LockProfileBuilder::find_child(uint32_t parent, uint32_t key) {
  auto& nodes = profile_.nodes;
  const auto next = static_cast<uint32_t>(nodes.size());
  const auto equal = [&](uint32_t i) { return nodes[i].parent == parent && nodes[i].key == key; };
  const uint32_t known = table_.find(mix_hash(parent, key), equal);
  if (known != IndexTable::kNone) return known;
  if (nodes.size() >= kMostNodes && key != kMoreKey) {
    ++profile_.merged;
    return find_child(parent, kMoreKey);
  }
  table_.find_or_enter(mix_hash(parent, key), next, equal,
                       [&](uint32_t i) { return mix_hash(nodes[i].parent, nodes[i].key); });
  LockNode node;
  node.parent = parent;
  node.key = key;
  node.level = nodes[parent].level + 1;
  nodes.push_back(std::move(node));
  nodes[parent].children.push_back(next);
  open_.push_back(kUntouched);
  return next;
}

LockProfile LockProfileBuilder::finish(const AspectKeys& keys, const LockAccount& account) && {
  profile_.account = account;
  sort_children(profile_, keys);
  return std::move(profile_);
}

LockProfile lock_profile(const Model& model, const LockCode& code, const Selection& selection, const AspectKeys& keys,
                         std::vector<LockAspect> by) {
  LockProfileBuilder builder(std::move(by));
  Contentions contentions(code, selected(selection, [&](const Contention& contention, std::span<const Piece> pieces) {
                            builder.add(keys, contention, pieces);
                          }));
  contentions.finish(model.locks);
  return std::move(builder).finish(keys, contentions.account());
}

}  // namespace tarsier::analysis
