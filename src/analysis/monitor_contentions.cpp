#include "analysis/monitor_contentions.h"

#include <algorithm>
#include <tuple>

#include "analysis/grouped_indices.h"
#include "analysis/monitor_timeline.h"

namespace tarsier::analysis {
namespace {

// A thread is blocked only once at a time. Of two that claim otherwise the longer one counts.
void order_without_duplicates(const std::vector<MonitorEnter>& all, std::vector<uint32_t>& indices) {
  const auto key = [&](uint32_t i) {
    const MonitorEnter& e = all[i];
    return std::make_tuple(e.begin_ns, e.thread.value, -e.end_ns, e.sequence, e.stack.value, e.previous_owner.value,
                           e.after_wait, e.entered);
  };
  std::sort(indices.begin(), indices.end(), [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
  const auto same = [&](uint32_t a, uint32_t b) {
    return all[a].begin_ns == all[b].begin_ns && all[a].thread == all[b].thread;
  };
  indices.erase(std::unique(indices.begin(), indices.end(), same), indices.end());
}

class Period {
 public:
  Period(const LockEvents& events, PieceBudget& budget, const ContentionSink& sink)
      : events_(events), budget_(budget), sink_(sink), recorded_releases_(!events.exits.empty()) {}

  void run(LockIndex lock, std::span<const uint32_t> enters, std::span<const uint32_t> exits) {
    enters_.assign(enters.begin(), enters.end());
    order_without_duplicates(events_.enters, enters_);
    gather(exits);
    const std::vector<Holding> holdings = holdings_of(timeline_);
    for (const uint32_t i : enters_) {
      const MonitorEnter& enter = events_.enters[i];
      const Contention contention{.begin_ns = enter.begin_ns,
                                  .end_ns = enter.end_ns,
                                  .lock = lock,
                                  .thread = enter.thread,
                                  .stack = enter.stack,
                                  .group = LockGroup::kMonitor,
                                  .after_wait = enter.after_wait};
      cut(contention, holdings);
      sink_(contention, pieces_.pieces());
    }
  }

 private:
  void gather(std::span<const uint32_t> exits) {
    timeline_.clear();
    for (const uint32_t i : enters_) {
      const MonitorEnter& enter = events_.enters[i];
      if (enter.previous_owner != kNobody && !enter.previous_at_end) {
        timeline_.push_back({.time_ns = enter.begin_ns, .thread = enter.previous_owner});
      }
      if (!enter.entered) continue;
      timeline_.push_back({.time_ns = enter.end_ns,
                           .sequence = enter.sequence,
                           .kind = MonitorEvent::Kind::kEntered,
                           .thread = enter.thread,
                           .stack = recorded_releases_ ? enter.stack : StackIndex(0),
                           .last_owner = enter.previous_at_end ? enter.previous_owner : kNobody});
    }
    for (const uint32_t i : exits) {
      const MonitorExit& exit = events_.exits[i];
      timeline_.push_back({.time_ns = exit.time_ns,
                           .sequence = exit.sequence,
                           .kind = MonitorEvent::Kind::kReleased,
                           .thread = exit.thread,
                           .stack = exit.stack,
                           .next_owner = exit.next_owner});
    }
  }

  void cut(const Contention& contention, const std::vector<Holding>& holdings) {
    pieces_.start(contention);
    auto next = std::upper_bound(holdings.begin(), holdings.end(), contention.begin_ns,
                                 [](int64_t time, const Holding& holding) { return time < holding.begin_ns; });
    for (; !pieces_.complete() && budget_.take(); ++next) {
      const bool last = next == holdings.end();
      pieces_.until(last ? INT64_MAX : next->begin_ns, std::prev(next)->owner);
      if (last) break;
    }
    pieces_.until(INT64_MAX, Owner::unknown());
  }

  const LockEvents& events_;
  PieceBudget& budget_;
  const ContentionSink& sink_;
  // Without them nobody knows who else had it between two that entered.
  const bool recorded_releases_;
  std::vector<uint32_t> enters_;
  std::vector<MonitorEvent> timeline_;
  PieceList pieces_;
};

}  // namespace

void monitor_contentions(const LockEvents& events, PieceBudget& budget, const ContentionSink& sink) {
  const size_t periods = events.periods.size();
  const GroupedIndices enters(events.enters, periods, [](const MonitorEnter& e) { return e.period.value; });
  const GroupedIndices exits(events.exits, periods, [](const MonitorExit& e) { return e.period.value; });
  Period period(events, budget, sink);
  for (size_t i = 0; i < periods; ++i) {
    if (!enters.of(i).empty()) period.run(events.periods[i].lock, enters.of(i), exits.of(i));
  }
}

}  // namespace tarsier::analysis
