#include "analysis/monitor_contentions.h"

#include <algorithm>
#include <tuple>

#include "analysis/partition_near.h"
#include "analysis/prefetch.h"

namespace tarsier::analysis {
namespace {

// Where an event of a timeline comes from.
constexpr uint32_t kNowhere = UINT32_MAX, kExitBit = 1U << 31;

}  // namespace

void MonitorContentions::settle(const LockEvents& events, Horizon horizon, SettledEvents& settled) {
  events_ = &events;
  horizon_ = horizon;
  settled_ = &settled;
  recorded_releases_ = recorded_releases_ || !events.exits.empty();
  newest_.resize(events.locks.size(), kNone);
  by_lock_.start(events.locks.size());
  // Others can tell nothing yet.
  const auto tells = [&](const MonitorEnter& enter) {
    const bool looked = enter.previous_owner != kNobody && !enter.previous_at_end;
    return (looked ? enter.begin_ns : enter.end_ns) <= horizon.complete_ns;
  };
  const auto has_come = [&](const MonitorExit& exit) { return exit.time_ns <= horizon.complete_ns; };
  for (const MonitorEnter& enter : events.enters) {
    if (tells(enter)) by_lock_.count(enter.period.lock.value);
  }
  for (const MonitorExit& exit : events.exits) {
    if (has_come(exit)) by_lock_.count(exit.period.lock.value);
  }
  by_lock_.counted();
  for (uint32_t i = 0; i < events.enters.size(); ++i) {
    const MonitorPeriod& period = events.enters[i].period;
    if (tells(events.enters[i])) by_lock_.put(period.lock.value, {period.generation, i, false});
  }
  for (uint32_t i = 0; i < events.exits.size(); ++i) {
    const MonitorPeriod& period = events.exits[i].period;
    if (has_come(events.exits[i])) by_lock_.put(period.lock.value, {period.generation, i, true});
  }
  fetched_ = 0;
  for (size_t slot = 0; slot < by_lock_.groups().size(); ++slot) {
    settle_monitor(LockIndex(by_lock_.groups()[slot]), by_lock_.at(slot));
  }
  if (changes_ > limits_.changes) forget_old_holdings();
}

void MonitorContentions::settle_monitor(LockIndex lock, std::span<Item> items) {
  const auto by_generation = [](const Item& a, const Item& b) { return a.generation < b.generation; };
  if (!std::is_sorted(items.begin(), items.end(), by_generation)) {
    std::sort(items.begin(), items.end(), by_generation);
  }
  for (size_t before = 0, begin = 0, end = 0; begin < items.size(); before = begin, begin = end) {
    const int64_t generation = items[begin].generation;
    while (end < items.size() && items[end].generation == generation) ++end;
    const uint32_t index = period_of({lock, generation});
    fetch_until(items.data() + end);
    settle_period(index, items.subspan(begin, end - begin));
    // Nobody is blocked any more in the periods before, nor in any when all is over.
    if (periods_[index].timeline.begun() && periods_[index].older != kNone) {
      drop_releases(items.subspan(before, begin - before));
      for (uint32_t& older = periods_[index].older; older != kNone;) {
        const uint32_t next = periods_[older].older;
        forget(older);
        older = next;
      }
    }
  }
  if (!horizon_.end()) return;
  for (uint32_t index = newest_[lock.value]; index != kNone;) {
    const uint32_t next = periods_[index].older;
    forget(index);
    index = next;
  }
  newest_[lock.value] = kNone;
}

// Events of a monitor lie far from each other.
void MonitorContentions::fetch_until(const Item* item) {
  const std::span<const Item> all = by_lock_.items();
  const size_t end = std::min(all.size(), static_cast<size_t>(item - all.data()) + kPrefetchAhead);
  for (fetched_ = std::max(fetched_, end - std::min(end, 4 * kPrefetchAhead)); fetched_ < end; ++fetched_) {
    const Item& wanted = all[fetched_];
    if (wanted.is_exit) {
      prefetch(events_->exits[wanted.index]);
    } else {
      prefetch(events_->enters[wanted.index]);
    }
  }
}

// Of periods that are over: those after which nothing came that would tell more about them.
void MonitorContentions::drop_releases(std::span<const Item> items) {
  for (const Item& item : items) {
    if (item.is_exit && events_->exits[item.index].time_ns <= horizon_.final_ns) settled_->exits[item.index] = true;
  }
}

void MonitorContentions::settle_period(uint32_t index, std::span<const Item> items) {
  Period& period = periods_[index];
  order_without_duplicates(items);
  if (horizon_.end() && enters_.empty()) return;
  gathered_.clear();
  done_.clear();
  late_enters_.clear();
  gather_enters(period.timeline);
  gather_exits(period.timeline, items);
  const size_t before = period.holdings.size();
  if (horizon_.end()) {
    period.timeline.finish(gathered_, period.holdings);
  } else {
    period.timeline.extend(gathered_, horizon_.final_ns, period.holdings, done_);
  }
  changes_ += period.holdings.size() - before;
  for (const uint32_t source : done_) {
    if (source == kNowhere) continue;
    ((source & kExitBit) != 0 ? settled_->exits : settled_->enters)[source & ~kExitBit] = true;
  }
  for (const uint32_t i : late_enters_) settled_->enters[i] = true;
  near_ = before;
  for (const uint32_t i : enters_) {
    const MonitorEnter& enter = events_->enters[i];
    const bool known = settled_->enters[i] || (!enter.entered && enter.end_ns <= period.timeline.since());
    if (!known && !horizon_.end()) continue;
    settled_->enters[i] = true;
    tell(enter, period.holdings);
  }
}

// A thread is blocked only once at a time. Of two that claim otherwise the longer one counts.
void MonitorContentions::order_without_duplicates(std::span<const Item> items) {
  const std::vector<MonitorEnter>& all = events_->enters;
  enters_.clear();
  for (const Item& item : items) {
    if (!item.is_exit) enters_.push_back(item.index);
  }
  const auto key = [&](uint32_t i) {
    const MonitorEnter& e = all[i];
    return std::make_tuple(e.thread.value, -e.end_ns, e.sequence, e.stack.value, e.previous_owner.value, e.after_wait,
                           e.entered);
  };
  std::sort(enters_.begin(), enters_.end(), [&](uint32_t a, uint32_t b) {
    return all[a].begin_ns != all[b].begin_ns ? all[a].begin_ns < all[b].begin_ns : key(a) < key(b);
  });
  size_t kept = 0;
  for (const uint32_t i : enters_) {
    const bool again = kept > 0 && all[enters_[kept - 1]].begin_ns == all[i].begin_ns &&
                       all[enters_[kept - 1]].thread == all[i].thread;
    if (again) {
      settled_->enters[i] = true;
    } else {
      enters_[kept++] = i;
    }
  }
  enters_.resize(kept);
}

// Of an event that is before what is known already. False: it was known.
bool MonitorContentions::came_late(MonitorTimeline& timeline, int64_t sequence) {
  if (sequence != 0 && !timeline.was_missing(sequence)) return false;
  ++account_.late;
  return true;
}

// Events are filled in where they are: a copy of what was written just before is slow.
void MonitorContentions::gather_enters(MonitorTimeline& timeline) {
  size_t kept = 0;
  for (const uint32_t i : enters_) {
    const MonitorEnter& enter = events_->enters[i];
    const bool late = enter.entered && enter.end_ns < timeline.since();
    if (late && !came_late(timeline, enter.sequence)) {
      settled_->enters[i] = true;
      continue;
    }
    enters_[kept++] = i;
    if (late) late_enters_.push_back(i);
    const bool looked = enter.previous_owner != kNobody && !enter.previous_at_end;
    if (looked && enter.begin_ns >= timeline.since() && enter.begin_ns <= horizon_.complete_ns) {
      MonitorEvent& seen = gathered_.emplace_back();
      seen.time_ns = enter.begin_ns;
      seen.thread = enter.previous_owner;
      seen.source = kNowhere;
    }
    if (!enter.entered || late || enter.end_ns > horizon_.complete_ns) continue;
    MonitorEvent& entered = gathered_.emplace_back();
    entered.time_ns = enter.end_ns;
    entered.sequence = enter.sequence;
    entered.kind = MonitorEvent::Kind::kEntered;
    entered.thread = enter.thread;
    entered.stack = recorded_releases_ ? enter.stack : StackIndex(0);
    entered.last_owner = enter.previous_at_end ? enter.previous_owner : kNobody;
    entered.source = i;
  }
  enters_.resize(kept);
}

void MonitorContentions::gather_exits(MonitorTimeline& timeline, std::span<const Item> items) {
  for (const Item& item : items) {
    if (!item.is_exit) continue;
    const MonitorExit& exit = events_->exits[item.index];
    if (exit.time_ns < timeline.since()) {
      came_late(timeline, exit.sequence);
      settled_->exits[item.index] = true;
      continue;
    }
    MonitorEvent& released = gathered_.emplace_back();
    released.time_ns = exit.time_ns;
    released.sequence = exit.sequence;
    released.kind = MonitorEvent::Kind::kReleased;
    released.thread = exit.thread;
    released.stack = exit.stack;
    released.next_owner = exit.next_owner;
    released.source = item.index | kExitBit;
  }
}

void MonitorContentions::tell(const MonitorEnter& enter, const std::vector<Holding>& holdings) {
  const Contention contention{.begin_ns = enter.begin_ns,
                              .end_ns = enter.end_ns,
                              .lock = enter.period.lock,
                              .thread = enter.thread,
                              .stack = enter.stack,
                              .group = LockGroup::kMonitor,
                              .after_wait = enter.after_wait};
  cut(contention, holdings);
  sink_(contention, pieces_.pieces());
}

void MonitorContentions::cut(const Contention& contention, const std::vector<Holding>& holdings) {
  pieces_.start(contention);
  near_ =
      partition_near(holdings, near_, [&](const Holding& holding) { return holding.begin_ns <= contention.begin_ns; });
  auto next = holdings.begin() + static_cast<std::ptrdiff_t>(near_);
  if (next == holdings.begin()) {
    ++account_.forgotten;
    pieces_.until(next == holdings.end() ? INT64_MAX : next->begin_ns, Owner::unknown());
    if (next != holdings.end()) ++next;
  }
  for (; !pieces_.complete(); ++next) {
    if (!budget_.take()) {
      ++account_.uncut;
      break;
    }
    const bool last = next == holdings.end();
    pieces_.until(last ? INT64_MAX : next->begin_ns, std::prev(next)->owner);
    if (last) break;
  }
  pieces_.until(INT64_MAX, Owner::unknown());
}

uint32_t MonitorContentions::period_of(MonitorPeriod wanted) {
  uint32_t newer = kNone, index = newest_[wanted.lock.value];
  while (index != kNone && periods_[index].of.generation > wanted.generation) {
    newer = index;
    index = periods_[index].older;
  }
  if (index != kNone && periods_[index].of.generation == wanted.generation) return index;
  const uint32_t older = index;
  if (unused_.empty()) {
    index = static_cast<uint32_t>(periods_.size());
    periods_.emplace_back();
  } else {
    index = unused_.back();
    unused_.pop_back();
  }
  periods_[index].of = wanted;
  periods_[index].older = older;
  (newer == kNone ? newest_[wanted.lock.value] : periods_[newer].older) = index;
  // It should have been over.
  if (newer != kNone && periods_[newer].timeline.begun()) ++account_.late;
  return index;
}

// The caller takes care of whoever links to it.
void MonitorContentions::forget(uint32_t index) {
  Period& period = periods_[index];
  changes_ -= period.holdings.size();
  std::vector<Holding> room = std::move(period.holdings);
  room.clear();
  constexpr size_t kWorthKeeping = 64;
  if (room.capacity() > kWorthKeeping) room = {};
  period = {};
  period.holdings = std::move(room);
  unused_.push_back(index);
}

// The older half, by time, until enough is gone.
void MonitorContentions::forget_old_holdings() {
  int64_t oldest = horizon_.final_ns;
  for (const Period& period : periods_) {
    // The first one of a period begins before all times.
    if (period.holdings.size() > 1) oldest = std::min(oldest, period.holdings[1].begin_ns);
  }
  while (changes_ > limits_.changes / 2 && oldest < horizon_.final_ns) {
    const int64_t until = oldest + (horizon_.final_ns - oldest + 1) / 2;
    for (Period& period : periods_) {
      auto& holdings = period.holdings;
      const auto first_kept = std::upper_bound(holdings.begin(), holdings.end(), until,
                                               [](int64_t time, const Holding& h) { return time < h.begin_ns; });
      // The one that reaches over that moment stays.
      const auto gone = std::max<std::ptrdiff_t>(first_kept - holdings.begin() - 1, 0);
      holdings.erase(holdings.begin(), holdings.begin() + gone);
      changes_ -= static_cast<size_t>(gone);
    }
    oldest = until;
  }
  for (uint32_t lock = 0; lock < newest_.size(); ++lock) {
    const uint32_t index = newest_[lock];
    if (index == kNone || periods_[index].older != kNone || periods_[index].timeline.since() >= oldest) continue;
    forget(index);
    newest_[lock] = kNone;
  }
}

}  // namespace tarsier::analysis
