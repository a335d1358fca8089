#include "analysis/lock_blame.h"

#include <algorithm>
#include <map>
#include <string>

namespace tarsier::analysis {

void LockBlameFinder::add(const AspectKeys& keys, const Contention& contention, std::span<const Piece> pieces) {
  if (!is_lock(contention.group)) return;
  total_ns_ += contention.end_ns - contention.begin_ns;
  if (contention.lock != lock_) {
    put_all_away();
    lock_ = contention.lock;
  }
  const uint32_t blocked = keys.blocked_method(contention);
  for (const Piece& piece : pieces) {
    const uint32_t owner = keys.owner_method(piece.owner);
    Recent& recent = recent_[(blocked * 5 + owner) % recent_.size()];
    if (!recent.used || recent.blocked != blocked || recent.owner != owner) {
      put_away(recent);
      recent = {.blocked = blocked, .owner = owner, .used = true};
    }
    recent.ns += piece.end_ns - piece.begin_ns;
  }
}

void LockBlameFinder::put_away(Recent& recent) {
  if (recent.used) add_to(pair(recent.blocked, recent.owner), lock_, recent.ns);
  recent.used = false;
}

void LockBlameFinder::put_all_away() {
  for (Recent& recent : recent_) put_away(recent);
}

LockBlameFinder::Pair& LockBlameFinder::pair(uint32_t blocked, uint32_t owner) {
  const auto equal = [&](uint32_t i) { return pairs_[i].blocked == blocked && pairs_[i].owner == owner; };
  const auto next = static_cast<uint32_t>(pairs_.size());
  const uint32_t found = table_.find_or_enter(mix_hash(blocked, owner), next, equal,
                                              [&](uint32_t i) { return mix_hash(pairs_[i].blocked, pairs_[i].owner); });
  if (found == next) pairs_.push_back({.blocked = blocked, .owner = owner});
  return pairs_[found];
}

void LockBlameFinder::add_to(Pair& pair, LockIndex lock, int64_t ns) {
  pair.ns += ns;
  const auto end = pair.locks.begin() + static_cast<std::ptrdiff_t>(pair.used);
  auto place = std::find_if(pair.locks.begin(), end, [&](const LockTime& known) { return known.lock == lock; });
  if (place == end && pair.used < pair.locks.size()) {
    ++pair.used;
    *place = {lock, 0};
  } else if (place == end) {
    place = std::min_element(pair.locks.begin(), end, [](const LockTime& a, const LockTime& b) { return a.ns < b.ns; });
    place->lock = lock;
  }
  place->ns += ns;
}

LockBlame LockBlameFinder::find(const AspectKeys& keys) {
  put_all_away();
  LockBlame blame{.total_ns = total_ns_};
  if (pairs_.empty()) return blame;
  std::map<uint32_t, int64_t> by_blocked;
  for (const Pair& pair : pairs_) by_blocked[pair.blocked] += pair.ns;
  // Most time first; among equals not by key, which depends on the order of the file.
  const auto before = [&](LockAspect aspect, int64_t ns, uint32_t key, int64_t than_ns, uint32_t than) {
    return ns != than_ns ? ns > than_ns : keys.label(aspect, key) < keys.label(aspect, than);
  };
  bool first = true;
  for (const auto& [blocked, ns] : by_blocked) {
    if (!first && !before(LockAspect::kBlockedMethod, ns, blocked, blame.blocked_ns, blame.blocked)) continue;
    blame.blocked = blocked;
    blame.blocked_ns = ns;
    first = false;
  }
  const Pair* top = nullptr;
  // Somebody who can do something about it, if there is one.
  const auto is_method = [&](uint32_t owner) { return !keys.label(LockAspect::kOwnerMethod, owner).starts_with('['); };
  for (const Pair& pair : pairs_) {
    if (pair.blocked != blame.blocked) continue;
    const bool better =
        top == nullptr || (is_method(pair.owner) != is_method(top->owner)
                               ? is_method(pair.owner)
                               : before(LockAspect::kOwnerMethod, pair.ns, pair.owner, top->ns, top->owner));
    if (better) top = &pair;
  }
  const LockTime* lock = &top->locks[0];
  for (size_t i = 1; i < top->used; ++i) {
    const LockTime& other = top->locks[i];
    if (before(LockAspect::kObject, other.ns, other.lock.value, lock->ns, lock->lock.value)) lock = &other;
  }
  blame.owner = top->owner;
  blame.owner_ns = top->ns;
  blame.lock = lock->lock;
  blame.lock_ns = lock->ns;
  return blame;
}

}  // namespace tarsier::analysis
