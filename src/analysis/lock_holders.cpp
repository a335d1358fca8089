#include "analysis/lock_holders.h"

#include <algorithm>
#include <tuple>

namespace tarsier::analysis {
namespace {

bool ends_before(const LockHold& a, const LockHold& b) {
  return std::tie(a.end_ns, a.begin_ns, a.thread.value, a.stack.value) <
         std::tie(b.end_ns, b.begin_ns, b.thread.value, b.stack.value);
}

bool begins_before(const LockHold& a, const LockHold& b) {
  return std::tie(a.begin_ns, a.end_ns, a.thread.value, a.stack.value) <
         std::tie(b.begin_ns, b.end_ns, b.thread.value, b.stack.value);
}

}  // namespace

void LockHolders::Holds::add(std::span<const LockHold> sorted) {
  if (sorted.empty()) return;
  const auto first = std::upper_bound(all.begin(), all.end(), sorted.front(), ends_before) - all.begin();
  const auto middle = std::ssize(all);
  all.insert(all.end(), sorted.begin(), sorted.end());
  std::inplace_merge(all.begin() + first, all.begin() + middle, all.end(), ends_before);
  earliest.resize(static_cast<size_t>(first) / kBlock);
  for (size_t i = earliest.size() * kBlock; i < all.size(); ++i) {
    if (i % kBlock == 0) earliest.push_back(INT64_MAX);
    earliest.back() = std::min(earliest.back(), all[i].begin_ns);
  }
}

void LockHolders::Holds::forget_half() {
  const std::vector<LockHold> kept(all.begin() + std::ssize(all) / 2, all.end());
  all.clear();
  add(kept);
}

void LockHolders::settle(const LockEvents& events, SettledEvents& settled) {
  settled.holds.assign(events.holds.size(), true);
  if (events.holds.empty()) return;
  locks_.resize(std::max(locks_.size(), events.locks.size()));
  added_ = events.holds;
  std::sort(added_.begin(), added_.end(), [](const LockHold& a, const LockHold& b) {
    return a.lock != b.lock ? a.lock.value < b.lock.value : ends_before(a, b);
  });
  for (auto begin = added_.begin(); begin != added_.end();) {
    const auto end = std::find_if(begin, added_.end(), [&](const LockHold& hold) { return hold.lock != begin->lock; });
    add_to_lock(locks_[begin->lock.value], {begin, end});
    begin = end;
  }
  kept_ += added_.size();
  if (kept_ > limits_.changes) forget_old();
}

void LockHolders::add_to_lock(OfLock& of_lock, std::span<const LockHold> sorted) {
  from_before_.clear();
  std::vector<LockHold> whole;
  for (const LockHold& hold : sorted) {
    const bool first = seen_.insert(uint64_t{hold.lock.value} << 32 | hold.thread.value).second;
    if (!hold.from_before) {
      whole.push_back(hold);
    } else if (first && of_lock.forgotten_until_ns == INT64_MIN) {
      from_before_.push_back(hold);
    } else {
      ++of_lock.passed_on;
    }
  }
  of_lock.acquired += whole.size();
  of_lock.holds.add(whole);
  of_lock.from_before.add(from_before_);
}

void LockHolders::forget_old() {
  kept_ = 0;
  for (OfLock& of_lock : locks_) {
    for (Holds* holds : {&of_lock.holds, &of_lock.from_before}) {
      if (const size_t half = holds->all.size() / 2; half > 0) {
        of_lock.forgotten_until_ns = std::max(of_lock.forgotten_until_ns, holds->all[half - 1].end_ns);
        holds->forget_half();
      }
      kept_ += holds->all.size();
    }
  }
  seen_.clear();
}

void LockHolders::find_overlapping(const OfLock& of_lock, const ThreadPark& park, int64_t until_ns) {
  overlapping_.clear();
  for (const Holds* holds : {&of_lock.holds, &of_lock.from_before}) {
    const auto& all = holds->all;
    const auto first = std::upper_bound(all.begin(), all.end(), park.begin_ns,
                                        [](int64_t time, const LockHold& one) { return time < one.end_ns; });
    for (auto i = static_cast<size_t>(first - all.begin()); i < all.size(); ++i) {
      if (i % Holds::kBlock == 0 && holds->earliest[i / Holds::kBlock] >= until_ns) {
        i += Holds::kBlock - 1;
      } else if (all[i].begin_ns < until_ns && all[i].thread != park.thread) {
        overlapping_.push_back(all[i]);
      }
    }
  }
  std::sort(overlapping_.begin(), overlapping_.end(), begins_before);
}

void LockHolders::find_cuts(int64_t begin, int64_t end) {
  cuts_ = {begin, end};
  for (const LockHold& hold : overlapping_) {
    for (const int64_t time : {hold.begin_ns, hold.end_ns}) {
      if (time > begin && time < end) cuts_.push_back(time);
    }
  }
  std::sort(cuts_.begin(), cuts_.end());
  cuts_.erase(std::unique(cuts_.begin(), cuts_.end()), cuts_.end());
}

void LockHolders::go_to(int64_t now) {
  std::erase_if(holding_, [now](const LockHold& hold) { return hold.end_ns <= now; });
  for (; begun_ < overlapping_.size() && overlapping_[begun_].begin_ns <= now; ++begun_) {
    if (overlapping_[begun_].end_ns > now) holding_.push_back(overlapping_[begun_]);
  }
}

bool LockHolders::cut(const ThreadPark& park, int64_t until_ns, PieceList& pieces, PieceBudget& budget) {
  if (park.blocker.value >= locks_.size()) return false;
  const OfLock& of_lock = locks_[park.blocker.value];
  if (of_lock.is_passed_on()) return false;
  find_overlapping(of_lock, park, until_ns);
  if (overlapping_.empty()) return false;
  if (park.begin_ns < of_lock.forgotten_until_ns) ++account_.forgotten;
  find_cuts(park.begin_ns, until_ns);
  holding_.clear();
  begun_ = 0;
  bool held_before = false;
  for (size_t i = 0; i + 1 < cuts_.size(); ++i) {
    const int64_t begin = cuts_[i], end = cuts_[i + 1];
    go_to(begin);
    if (holding_.empty()) {
      const Owner before = park.owner != kNobody ? Owner::only_thread(park.owner) : Owner::unknown();
      pieces.until(end, held_before ? Owner::hand_off() : before);
    }
    const auto holders = std::ssize(holding_);
    for (int64_t holder = 0; holder < holders; ++holder) {
      if (!budget.take()) {
        ++account_.uncut;
        return true;
      }
      const int64_t part_end = holder + 1 == holders ? end : begin + (end - begin) / holders * (holder + 1);
      const LockHold& hold = holding_[static_cast<size_t>(holder)];
      pieces.until(part_end, Owner::released(hold.thread, hold.stack));
      held_before = true;
    }
  }
  return true;
}

}  // namespace tarsier::analysis
