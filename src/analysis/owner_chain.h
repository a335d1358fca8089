// Follows a blocked interval from owner to owner: who is waited for may wait itself, for somebody who waits, ..
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/blocked_times.h"

namespace tarsier::analysis {

// One of a chain: somebody who is waited for.
struct OwnerLink {
  LockIndex lock = kNoLock;
  Owner owner{};
  uint32_t number = 1;  // 1: who was blocked waits for it directly
};

// `passes_on(piece, link)`: the link's owner was blocked by that piece; is that why it is waited for?
// `ended(begin, end, link, cycle)`: in that time the chain ended with that link. Each moment of the piece ends once.
template <class PassesOn, class Ended>
class OwnerChain {
 public:
  OwnerChain(const BlockedTimes& times, PassesOn passes_on, Ended ended)
      : times_(times), passes_on_(passes_on), ended_(ended) {}

  void follow(const BlockedPiece& piece) {
    path_ = {piece.thread};
    follow(piece.begin_ns, piece.end_ns, {piece.lock, piece.owner, 1});
  }
  [[nodiscard]] int64_t not_followed_ns() const { return not_followed_ns_; }

 private:
  // Longer chains are taken to end there; a JVM with so many threads behind each other has other troubles. Also the
  // depth of recursion.
  static constexpr uint32_t kLongest = 100;
  // Parts of blocked intervals that are looked at: hostile files end, too.
  static constexpr uint64_t kMostSteps = 100'000'000;

  void follow(int64_t begin_ns, int64_t end_ns, OwnerLink link) {
    const bool too_many = steps_ >= kMostSteps;
    if (too_many) not_followed_ns_ += end_ns - begin_ns;
    if (too_many || link.owner.thread == kNobody || link.number >= kLongest) {
      return ended_(begin_ns, end_ns, link, false);
    }
    path_.push_back(link.owner.thread);
    int64_t at = begin_ns;
    // Pieces are followed in the order of time, thread by thread.
    const uint32_t thread = link.owner.thread.value;
    if (thread >= near_.size()) near_.resize(thread + size_t{1});
    size_t near = near_[thread];
    for_each_overlap(times_.of(link.owner.thread), begin_ns, end_ns, near,
                     [&](const BlockedPiece& next, int64_t from, int64_t to) {
                       ++steps_;
                       if (!passes_on_(next, link)) return;
                       if (from > at) ended_(at, from, link, false);
                       at = to;
                       pass_on(from, to, {next.lock, next.owner, link.number + 1});
                     });
    near_[thread] = near;
    if (at < end_ns || begin_ns == end_ns) ended_(at, end_ns, link, false);
    path_.pop_back();
  }

  void pass_on(int64_t begin_ns, int64_t end_ns, OwnerLink link) {
    const bool cycle = std::find(path_.begin(), path_.end(), link.owner.thread) != path_.end();
    if (cycle) return ended_(begin_ns, end_ns, link, true);
    follow(begin_ns, end_ns, link);
  }

  const BlockedTimes& times_;
  PassesOn passes_on_;
  Ended ended_;
  std::vector<ThreadIndex> path_;  // who was blocked, by whom, ..
  std::vector<size_t> near_;       // by thread: where the last search in its pieces ended
  uint64_t steps_ = 0;
  int64_t not_followed_ns_ = 0;
};

}  // namespace tarsier::analysis
