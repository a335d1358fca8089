// When each thread was blocked, and by whom, all at once: for questions about several threads, or several locks, at one
// moment. for_each_contention() hands them out one by one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/contention.h"
#include "analysis/duration_spread.h"
#include "analysis/lock_code.h"
#include "analysis/longest_rows.h"
#include "analysis/model.h"
#include "analysis/partition_near.h"
#include "analysis/selection.h"

namespace tarsier::analysis {

// A piece of a contention.
struct BlockedPiece {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  Owner owner{};
  LockIndex lock = kNoLock;
  ThreadIndex thread{};
  StackIndex stack{};
  LockGroup group = LockGroup::kOther;
};

// A whole contention.
struct BlockedSpan {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  LockIndex lock = kNoLock;
  ThreadIndex thread{};
};

struct LockSum {
  int64_t blocked_ns = 0;  // of the selected threads
  uint64_t contentions = 0;
  DurationSpread hand_offs;  // from a release until the one that was woken up had the lock; of all threads
};

class BlockedTimes {
 public:
  // Of all groups, by thread and time.
  [[nodiscard]] std::span<const BlockedPiece> pieces() const { return pieces_; }
  [[nodiscard]] std::span<const BlockedPiece> of(ThreadIndex thread) const;
  // Of locks only, in the order of time.
  [[nodiscard]] std::span<const BlockedSpan> of(LockIndex lock) const;
  // Of locks only.
  [[nodiscard]] const LockSum& sum(LockIndex lock) const { return sums_[lock.value]; }
  // For which selected threads were blocked most, and at all.
  [[nodiscard]] std::vector<LockIndex> worst_locks(size_t most) const;
  // Of locks, of the selected threads.
  [[nodiscard]] int64_t total_ns() const { return total_ns_; }
  // Of locks.
  [[nodiscard]] int64_t total_ns(ThreadIndex thread) const {
    return thread.value < by_thread_.size() ? by_thread_[thread.value] : 0;
  }
  // Pieces that there was no room for: short ones.
  [[nodiscard]] int64_t left_out_ns() const { return left_out_ns_; }

 private:
  friend class BlockedTimesBuilder;
  int64_t total_ns_ = 0;
  int64_t left_out_ns_ = 0;
  std::vector<BlockedPiece> pieces_;
  std::vector<size_t> first_piece_{
      0};  // by thread, and the end; those after the last one that was blocked are not there
  std::vector<BlockedSpan> spans_;
  std::vector<LockSum> sums_;       // by lock; those after the last one that was waited for are not there
  std::vector<int64_t> by_thread_;  // likewise
};

// Takes contentions one by one, of all threads and times: who was not selected may still be the cause.
class BlockedTimesBuilder {
 public:
  static constexpr size_t kMostRows = 3'000'000;  // of either kind: 200 MB together
  explicit BlockedTimesBuilder(size_t most_rows = kMostRows) : pieces_(most_rows), spans_(most_rows) {}

  void add(const Selection& selection, const Contention& contention, std::span<const Piece> pieces);
  BlockedTimes finish() &&;

 private:
  BlockedTimes times_;
  LongestRows<BlockedPiece> pieces_;
  LongestRows<BlockedSpan> spans_;
};

BlockedTimes blocked_times(const Model& model, const LockCode& code, const Selection& selection);

// What the thread was blocked for within a time: calls found(piece, begin, end) for each part of it, in order. `near`:
// where the last search among the thread's pieces ended.
template <class Found>
void for_each_overlap(std::span<const BlockedPiece> of_thread, int64_t begin_ns, int64_t end_ns, size_t& near,
                      const Found& found) {
  near = partition_near(of_thread, near, [&](const BlockedPiece& each) { return each.begin_ns <= begin_ns; });
  // Damaged recordings may say that a thread was blocked twice at a time: then the first one counts.
  int64_t at = begin_ns;
  for (const BlockedPiece& piece : of_thread.subspan(near - std::min<size_t>(near, 1))) {
    if (piece.begin_ns >= end_ns) return;
    const int64_t from = std::max(at, piece.begin_ns), to = std::min(end_ns, piece.end_ns);
    if (from >= to) continue;
    found(piece, from, to);
    at = to;
  }
}

}  // namespace tarsier::analysis
