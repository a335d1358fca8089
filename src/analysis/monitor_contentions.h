// The contentions of monitors, one period of contention at a time.
#pragma once

#include <span>
#include <vector>

#include "analysis/contention.h"
#include "analysis/grouping.h"
#include "analysis/lock_limits.h"
#include "analysis/monitor_timeline.h"
#include "analysis/settled_events.h"

namespace tarsier::analysis {

class MonitorContentions {
 public:
  MonitorContentions(const LockLimits& limits, PieceBudget& budget, LockAccount& account, const ContentionSink& sink)
      : limits_(limits), budget_(budget), account_(account), sink_(sink) {}

  // Tells the sink of those that are final. `settled`: by which events; the others must be given again.
  void settle(const LockEvents& events, Horizon horizon, SettledEvents& settled);

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  // An event of a monitor.
  struct Item {
    int64_t generation;
    uint32_t index;  // in its column
    bool is_exit;
  };
  struct Period {
    MonitorPeriod of{};
    MonitorTimeline timeline;
    std::vector<Holding> holdings;
    uint32_t older = kNone;  // of the same lock
  };

  void settle_monitor(LockIndex lock, std::span<Item> items);
  void fetch_until(const Item* item);
  void drop_releases(std::span<const Item> items);
  void settle_period(uint32_t index, std::span<const Item> items);
  void order_without_duplicates(std::span<const Item> items);
  void gather_enters(MonitorTimeline& timeline);
  void gather_exits(MonitorTimeline& timeline, std::span<const Item> items);
  bool came_late(MonitorTimeline& timeline, int64_t sequence);
  void tell(const MonitorEnter& enter, const std::vector<Holding>& holdings);
  void cut(const Contention& contention, const std::vector<Holding>& holdings);

  uint32_t period_of(MonitorPeriod wanted);
  void forget(uint32_t index);
  void forget_old_holdings();

  const LockLimits& limits_;
  PieceBudget& budget_;
  LockAccount& account_;
  const ContentionSink& sink_;

  std::vector<uint32_t> newest_;  // by lock
  std::vector<Period> periods_;
  std::vector<uint32_t> unused_;  // of periods_
  size_t changes_ = 0;            // of all holdings
  // Without them nobody knows who else had it between two that entered.
  bool recorded_releases_ = false;

  // While settling.
  const LockEvents* events_ = nullptr;
  Horizon horizon_;
  SettledEvents* settled_ = nullptr;
  Grouping<Item> by_lock_;
  size_t fetched_ = 0;  // of its items
  std::vector<uint32_t> enters_, late_enters_, done_;
  std::vector<MonitorEvent> gathered_;
  PieceList pieces_;
  size_t near_ = 0;  // of a period's holdings: where the last contention began, since these come in the order of time
};

}  // namespace tarsier::analysis
