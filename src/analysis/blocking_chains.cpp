#include "analysis/blocking_chains.h"

#include <algorithm>
#include <map>

#include "analysis/index_table.h"

namespace tarsier::analysis {
namespace {

// Longer chains are taken to end there; a JVM with so many threads behind each other has other troubles.
constexpr size_t kLongest = 100;  // also the depth of recursion
// Parts of blocked intervals that are looked at: hostile files end, too.
constexpr uint64_t kMostSteps = 100'000'000;

bool has_thread(const Owner& owner) {
  return owner.kind == Owner::Kind::kChain || owner.kind == Owner::Kind::kThread;
}

class Follower {
 public:
  Follower(const BlockedTimes& times, const AspectKeys& keys, BlockingChains& chains)
      : times_(times), keys_(keys), chains_(chains) {}

  void follow(const BlockedPiece& piece) {
    path_ = {piece.thread};
    first_ = cause_of(piece.lock, piece.owner, false);
    chains_.causes[first_].direct_ns += piece.end_ns - piece.begin_ns;
    follow(piece.begin_ns, piece.end_ns, {piece.lock, piece.owner, 1});
  }

  void finish() {
    for (const auto& [ends, ns] : through_) chains_.causes[ends.first].through.push_back({ends.second, ns});
  }

 private:
  // One of a chain: who holds what, the how manyth.
  struct Link {
    LockIndex lock;
    Owner owner;
    size_t number;
  };

  // What the owner did in that time: was it blocked itself?
  void follow(int64_t begin_ns, int64_t end_ns, Link link) {
    const bool too_many = steps_ >= kMostSteps;
    if (too_many) chains_.not_followed_ns += end_ns - begin_ns;
    if (too_many || !has_thread(link.owner) || link.number >= kLongest) return end(end_ns - begin_ns, link);
    path_.push_back(link.owner.thread);
    int64_t at = begin_ns;
    for_each_overlap(times_.of(link.owner.thread), begin_ns, end_ns,
                     [&](const BlockedPiece& next, int64_t from, int64_t to) {
                       ++steps_;
                       // Nobody waits for what he holds.
                       if (!is_lock(next.group) || next.lock == link.lock) return;
                       if (from > at) end(from - at, link);
                       at = to;
                       pass_on(from, to, {next.lock, next.owner, link.number + 1});
                     });
    if (at < end_ns) end(end_ns - at, link);
    path_.pop_back();
  }

  void pass_on(int64_t begin_ns, int64_t end_ns, Link link) {
    const bool cycle = std::find(path_.begin(), path_.end(), link.owner.thread) != path_.end();
    if (cycle) return end(end_ns - begin_ns, link, true);
    follow(begin_ns, end_ns, link);
  }

  // The chain has that root.
  void end(int64_t length, Link link, bool cycle = false) {
    const uint32_t root = cause_of(link.lock, link.owner, cycle);
    BlockingCause& cause = chains_.causes[root];
    cause.caused_ns += length;
    chains_.total_ns += length;
    cause.longest = std::max(cause.longest, static_cast<uint32_t>(link.number));
    if (link.number < 2) return;
    cause.passed_on_ns += length;
    chains_.passed_on_ns += length;
    through_[{root, first_}] += length;
  }

  uint32_t cause_of(LockIndex lock, const Owner& owner, bool cycle) {
    const uint32_t method = keys_.key(LockAspect::kOwnerMethod, {}, {.owner = owner});
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

  const BlockedTimes& times_;
  const AspectKeys& keys_;
  BlockingChains& chains_;
  IndexTable table_;
  std::vector<ThreadIndex> alone_;  // by cause
  std::map<std::pair<uint32_t, uint32_t>, int64_t> through_;
  std::vector<ThreadIndex> path_;  // who was blocked, by whom, ..
  uint32_t first_ = 0;             // the owner that it waits for directly
  uint64_t steps_ = 0;
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
  Follower follower(times, keys, chains);
  for (const BlockedPiece& piece : times.pieces()) {
    if (is_lock(piece.group) && selection.has(piece.thread)) follower.follow(piece);
  }
  follower.finish();
  sort_causes(chains, keys);
  return chains;
}

}  // namespace tarsier::analysis
