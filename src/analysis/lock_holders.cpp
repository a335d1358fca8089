#include "analysis/lock_holders.h"

#include <algorithm>
#include <tuple>

namespace tarsier::analysis {
namespace {

bool ends_before(const LockHold& a, const LockHold& b) {
  return std::tie(a.end_ns, a.begin_ns, a.thread.value, a.stack.value) <
         std::tie(b.end_ns, b.begin_ns, b.thread.value, b.stack.value);
}

void add_sorted(std::vector<LockHold>& holds, const LockHold& hold) {
  // Nearly always it is the last.
  holds.insert(std::upper_bound(holds.begin(), holds.end(), hold, ends_before), hold);
}

}  // namespace

void LockHolders::settle(const LockEvents& events, SettledEvents& settled) {
  settled.holds.assign(events.holds.size(), true);
  if (events.holds.empty()) return;
  locks_.resize(std::max(locks_.size(), events.locks.size()));
  std::vector<LockHold> added = events.holds;
  std::sort(added.begin(), added.end(), ends_before);
  for (const LockHold& hold : added) {
    const bool first = seen_.insert(uint64_t{hold.lock.value} << 32 | hold.thread.value).second;
    OfLock& of_lock = locks_[hold.lock.value];
    if (!hold.from_before) {
      of_lock.longest_ns = std::max(of_lock.longest_ns, hold.end_ns - hold.begin_ns);
      add_sorted(of_lock.holds, hold);
    } else if (first) {
      add_sorted(of_lock.from_before, hold);
    }  // else it gives what it has not acquired: nobody was kept waiting by what it held
  }
  kept_ += added.size();
  if (kept_ > limits_.changes) forget_old();
}

void LockHolders::forget_old() {
  kept_ = 0;
  for (OfLock& of_lock : locks_) {
    for (auto* holds : {&of_lock.holds, &of_lock.from_before}) {
      const auto half = holds->begin() + std::ssize(*holds) / 2;
      if (half != holds->begin()) {
        of_lock.forgotten_until_ns = std::max(of_lock.forgotten_until_ns, std::prev(half)->end_ns);
      }
      holds->erase(holds->begin(), half);
      kept_ += holds->size();
    }
  }
  seen_.clear();
}

void LockHolders::find_overlapping(const OfLock& of_lock, const ThreadPark& park, int64_t until_ns) {
  overlapping_.clear();
  for (const auto* holds : {&of_lock.holds, &of_lock.from_before}) {
    const bool bounded = holds == &of_lock.holds;
    auto hold = std::upper_bound(holds->begin(), holds->end(), park.begin_ns,
                                 [](int64_t time, const LockHold& one) { return time < one.end_ns; });
    for (; hold != holds->end(); ++hold) {
      if (bounded && hold->end_ns - of_lock.longest_ns >= until_ns) break;
      if (hold->begin_ns < until_ns && hold->thread != park.thread) overlapping_.push_back(*hold);
    }
  }
  std::sort(overlapping_.begin(), overlapping_.end(), [](const LockHold& a, const LockHold& b) {
    return std::tie(a.begin_ns, a.end_ns, a.thread.value, a.stack.value) <
           std::tie(b.begin_ns, b.end_ns, b.thread.value, b.stack.value);
  });
}

void LockHolders::share(int64_t begin, int64_t end, PieceList& pieces) const {
  const auto holds_then = [&](const LockHold& hold) { return hold.begin_ns <= begin && hold.end_ns >= end; };
  const int64_t holders = std::count_if(overlapping_.begin(), overlapping_.end(), holds_then);
  int64_t number = 0;
  for (const LockHold& hold : overlapping_) {
    if (!holds_then(hold)) continue;
    ++number;
    const int64_t part_end = number == holders ? end : begin + (end - begin) / holders * number;
    pieces.until(part_end, Owner::released(hold.thread, hold.stack));
  }
}

bool LockHolders::cut(const ThreadPark& park, int64_t until_ns, PieceList& pieces, PieceBudget& budget) {
  if (park.blocker.value >= locks_.size()) return false;
  const OfLock& of_lock = locks_[park.blocker.value];
  find_overlapping(of_lock, park, until_ns);
  if (overlapping_.empty()) return false;
  if (park.begin_ns < of_lock.forgotten_until_ns) ++account_.forgotten;
  cuts_ = {park.begin_ns, until_ns};
  for (const LockHold& hold : overlapping_) {
    for (const int64_t time : {hold.begin_ns, hold.end_ns}) {
      if (time > park.begin_ns && time < until_ns) cuts_.push_back(time);
    }
  }
  std::sort(cuts_.begin(), cuts_.end());
  cuts_.erase(std::unique(cuts_.begin(), cuts_.end()), cuts_.end());
  bool held_before = false;
  for (size_t i = 0; i + 1 < cuts_.size(); ++i) {
    if (!budget.take()) {
      ++account_.uncut;
      return true;
    }
    share(cuts_[i], cuts_[i + 1], pieces);
    const bool nobody = std::none_of(overlapping_.begin(), overlapping_.end(), [&](const LockHold& hold) {
      return hold.begin_ns <= cuts_[i] && hold.end_ns >= cuts_[i + 1];
    });
    if (!nobody) {
      held_before = true;
    } else if (held_before) {
      pieces.until(cuts_[i + 1], Owner::hand_off());
    } else {
      pieces.until(cuts_[i + 1], park.owner != kNobody ? Owner::only_thread(park.owner) : Owner::unknown());
    }
  }
  return true;
}

}  // namespace tarsier::analysis
