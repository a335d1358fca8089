#include "analysis/blocking_chains.h"

#include <algorithm>
#include <map>

#include "analysis/index_table.h"
#include "analysis/owner_chain.h"

namespace tarsier::analysis {
namespace {

bool has_thread(const Owner& owner) {
  return owner.kind == Owner::Kind::kChain || owner.kind == Owner::Kind::kThread;
}

class Causes {
 public:
  Causes(const AspectKeys& keys, BlockingChains& chains) : keys_(keys), chains_(chains) {}

  // What comes next is about one who waits for that owner directly.
  void begin(const BlockedPiece& piece) {
    first_ = cause_of(piece.lock, piece.owner, false);
    chains_.causes[first_].direct_ns += piece.end_ns - piece.begin_ns;
  }

  // The chain has that root.
  void end(int64_t length, const OwnerLink& link, bool cycle) {
    const uint32_t root = link.number == 1 && !cycle ? first_ : cause_of(link.lock, link.owner, cycle);
    BlockingCause& cause = chains_.causes[root];
    cause.caused_ns += length;
    chains_.total_ns += length;
    cause.longest = std::max(cause.longest, link.number);
    if (link.number < 2) return;
    cause.passed_on_ns += length;
    chains_.passed_on_ns += length;
    through_[{root, first_}] += length;
  }

  void finish() {
    for (const auto& [ends, ns] : through_) chains_.causes[ends.first].through.push_back({ends.second, ns});
  }

 private:
  uint32_t cause_of(LockIndex lock, const Owner& owner, bool cycle) {
    const uint32_t method = keys_.owner_method(owner);
    // Without a chain the thread is all that tells them apart.
    const ThreadIndex alone = owner.kind == Owner::Kind::kThread ? owner.thread : kNobody;
    auto& causes = chains_.causes;
    const auto hash = [&](LockIndex of, uint32_t in, ThreadIndex by, bool closed) {
      return mix_hash(mix_hash(of.value, in), uint64_t{by.value} << 1 | (closed ? 1 : 0));
    };
    const auto next = static_cast<uint32_t>(causes.size());
    const uint32_t found = table_.find_or_enter(
        hash(lock, method, alone, cycle), next,
        [&](uint32_t i) {
          return causes[i].lock == lock && causes[i].method == method && alone_[i] == alone && causes[i].cycle == cycle;
        },
        [&](uint32_t i) { return hash(causes[i].lock, causes[i].method, alone_[i], causes[i].cycle); });
    if (found == next) {
      BlockingCause cause;
      cause.lock = lock;
      cause.method = method;
      cause.cycle = cycle;
      cause.thread = has_thread(owner) ? owner.thread : kNobody;
      causes.push_back(std::move(cause));
      alone_.push_back(alone);
    }
    if (causes[found].thread != owner.thread) causes[found].thread = kNobody;
    return found;
  }

  const AspectKeys& keys_;
  BlockingChains& chains_;
  IndexTable table_;
  std::vector<ThreadIndex> alone_;  // by cause
  std::map<std::pair<uint32_t, uint32_t>, int64_t> through_;
  uint32_t first_ = 0;  // the owner that it waits for directly
};

// Most caused time first. Indices within `through` follow.
void sort_causes(BlockingChains& chains, const AspectKeys& keys) {
  auto& causes = chains.causes;
  std::vector<uint32_t> order(causes.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  // Labels only where needed: not by key, which depends on the order of the file.
  const auto names = [&](const BlockingCause& cause) {
    return std::make_pair(keys.label(LockAspect::kObject, cause.lock.value),
                          keys.label(LockAspect::kOwnerMethod, cause.method));
  };
  const auto before = [&](uint32_t a, uint32_t b) {
    const BlockingCause& x = causes[a];
    const BlockingCause& y = causes[b];
    if (x.caused_ns != y.caused_ns) return x.caused_ns > y.caused_ns;
    if (x.direct_ns != y.direct_ns) return x.direct_ns > y.direct_ns;
    return names(x) < names(y);
  };
  std::sort(order.begin(), order.end(), before);
  std::vector<uint32_t> place(causes.size());
  std::vector<BlockingCause> sorted;
  sorted.reserve(causes.size());
  for (uint32_t i = 0; i < order.size(); ++i) {
    place[order[i]] = i;
    sorted.push_back(std::move(causes[order[i]]));
  }
  for (BlockingCause& cause : sorted) {
    for (BlockingCause::Through& way : cause.through) way.cause = place[way.cause];
    std::sort(cause.through.begin(), cause.through.end(),
              [](const auto& a, const auto& b) { return a.ns != b.ns ? a.ns > b.ns : a.cause < b.cause; });
  }
  causes = std::move(sorted);
}

}  // namespace

BlockingChains blocking_chains(const BlockedTimes& times, const Selection& selection, const AspectKeys& keys) {
  BlockingChains chains;
  Causes causes(keys, chains);
  // Nobody waits for what he holds.
  const auto by_another_lock = [](const BlockedPiece& piece, const OwnerLink& link) {
    return is_lock(piece.group) && piece.lock != link.lock;
  };
  OwnerChain chain(times, by_another_lock, [&](int64_t begin_ns, int64_t end_ns, const OwnerLink& link, bool cycle) {
    causes.end(end_ns - begin_ns, link, cycle);
  });
  for (const BlockedPiece& piece : times.pieces()) {
    if (!is_lock(piece.group) || !selection.has(piece.thread)) continue;
    causes.begin(piece);
    chain.follow(piece);
  }
  causes.finish();
  chains.not_followed_ns = chain.not_followed_ns();
  sort_causes(chains, keys);
  return chains;
}

}  // namespace tarsier::analysis
