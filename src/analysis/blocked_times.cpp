#include "analysis/blocked_times.h"

#include <algorithm>
#include <tuple>

#include "analysis/contentions.h"
#include "analysis/sort_rows.h"

namespace tarsier::analysis {
namespace {

// Of those that begin at the same time: not the order of the file, so that no result depends on it.
bool tie(const BlockedPiece& a, const BlockedPiece& b) {
  const auto key = [](const BlockedPiece& piece) {
    return std::make_tuple(piece.end_ns, piece.lock.value, piece.owner.kind, piece.owner.thread.value,
                           piece.owner.stack.value, piece.stack.value);
  };
  return key(a) < key(b);
}
bool tie(const BlockedSpan& a, const BlockedSpan& b) {
  return std::make_tuple(a.end_ns, a.thread.value) < std::make_tuple(b.end_ns, b.thread.value);
}

template <class Row, class Key>
std::span<const Row> rows_of(const std::vector<Row>& rows, uint32_t wanted, Key key) {
  const auto first =
      std::lower_bound(rows.begin(), rows.end(), wanted, [&](const Row& row, uint32_t k) { return key(row) < k; });
  const auto last =
      std::upper_bound(first, rows.end(), wanted, [&](uint32_t k, const Row& row) { return k < key(row); });
  return {first, last};
}

}  // namespace

void BlockedTimesBuilder::add(const Selection& selection, const Contention& contention, std::span<const Piece> pieces) {
  BlockedSpan whole{contention.begin_ns, contention.end_ns, contention.lock, contention.thread};
  if (!selection.clip(whole.begin_ns, whole.end_ns)) return;
  if (is_lock(contention.group) && contention.lock != kNoLock) {
    if (spans_.wants(whole.end_ns - whole.begin_ns)) spans_.add() = whole;
    auto& sums = times_.sums_;
    if (contention.lock.value >= sums.size()) sums.resize(contention.lock.value + 1);
    LockSum& sum = sums[contention.lock.value];
    if (selection.has(contention.thread)) {
      sum.blocked_ns += whole.end_ns - whole.begin_ns;
      sum.contentions += 1;
      times_.total_ns_ += whole.end_ns - whole.begin_ns;
    }
    auto& by_thread = times_.by_thread_;
    if (contention.thread.value >= by_thread.size()) by_thread.resize(contention.thread.value + 1);
    by_thread[contention.thread.value] += whole.end_ns - whole.begin_ns;
    // Others were still waiting meanwhile, and have a piece of it, too: it counts where it ended.
    const Piece& last = pieces.back();
    if (last.owner.kind == Owner::Kind::kHandOff && whole.end_ns == last.end_ns) {
      sum.hand_offs.add(last.end_ns - last.begin_ns);
    }
  }
  const bool whole_time = selection.whole_time();
  for (const Piece& piece : pieces) {
    int64_t begin = piece.begin_ns, end = piece.end_ns;
    if ((!whole_time && !selection.clip(begin, end)) || !pieces_.wants(end - begin)) continue;
    BlockedPiece& row = pieces_.add();
    row.begin_ns = begin;
    row.end_ns = end;
    row.owner = piece.owner;
    row.lock = contention.lock;
    row.thread = contention.thread;
    row.stack = contention.stack;
    row.group = contention.group;
  }
}

BlockedTimes BlockedTimesBuilder::finish() && {
  times_.left_out_ns_ = pieces_.left_out_ns();
  times_.pieces_ = pieces_.take();
  times_.spans_ = spans_.take();
  const auto tied = [](const auto& a, const auto& b) { return tie(a, b); };
  sort_rows(
      times_.pieces_, [](const BlockedPiece& piece) { return piece.thread.value; }, tied);
  sort_rows(
      times_.spans_, [](const BlockedSpan& span) { return span.lock.value; }, tied);
  const auto& rows = times_.pieces_;
  auto& first = times_.first_piece_;
  first.clear();
  for (size_t i = 0; i < rows.size(); ++i) {
    if (first.size() <= rows[i].thread.value) first.resize(rows[i].thread.value + size_t{1}, i);
  }
  first.push_back(rows.size());
  return std::move(times_);
}

BlockedTimes blocked_times(const Model& model, const LockCode& code, const Selection& selection) {
  BlockedTimesBuilder builder;
  for_each_contention(model, code, Selection(), [&](const Contention& contention, std::span<const Piece> pieces) {
    builder.add(selection, contention, pieces);
  });
  return std::move(builder).finish();
}

std::span<const BlockedPiece> BlockedTimes::of(ThreadIndex thread) const {
  if (thread.value >= first_piece_.size() - 1) return {};
  const size_t first = first_piece_[thread.value];
  return std::span(pieces_).subspan(first, first_piece_[thread.value + 1] - first);
}

std::span<const BlockedSpan> BlockedTimes::of(LockIndex lock) const {
  return rows_of(spans_, lock.value, [](const BlockedSpan& span) { return span.lock.value; });
}

std::vector<LockIndex> BlockedTimes::worst_locks(size_t most) const {
  std::vector<LockIndex> locks;
  for (uint32_t i = 0; i < sums_.size(); ++i) {
    if (sums_[i].blocked_ns > 0) locks.emplace_back(i);
  }
  const auto worse = [&](LockIndex a, LockIndex b) {
    const int64_t x = sum(a).blocked_ns, y = sum(b).blocked_ns;
    return x != y ? x > y : a < b;
  };
  const auto shown = static_cast<std::ptrdiff_t>(std::min(most, locks.size()));
  std::partial_sort(locks.begin(), locks.begin() + shown, locks.end(), worse);
  locks.resize(static_cast<size_t>(shown));
  return locks;
}

}  // namespace tarsier::analysis
