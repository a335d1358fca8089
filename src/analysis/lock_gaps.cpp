#include "analysis/lock_gaps.h"

#include <algorithm>
#include <span>
#include <vector>

namespace tarsier::analysis {
namespace {

// No recording loses so many events in one place: the number itself is wrong.
constexpr int64_t kWidestGap = 1'000'000'000;

struct Numbered {
  int64_t counter = 0;
  int64_t sequence = 0;
  int64_t time_ns = 0;
  auto operator<=>(const Numbered&) const = default;  // NOLINT(modernize-use-nullptr): a false alarm
};

void add_number(std::vector<Numbered>& events, int64_t counter, int64_t sequence, int64_t time_ns) {
  if (sequence != 0) events.push_back({counter, sequence, time_ns});
}

// Of one counter, which began with 1; in order.
void count_one(std::span<const Numbered> events, bool timed, LockGaps& gaps) {
  int64_t before = 0, time_before = INT64_MIN;
  for (const Numbered& event : events) {
    if (event.sequence < 0 || event.sequence - before > kWidestGap) {
      gaps.out_of_bounds += 1;
      continue;
    }
    if (event.sequence == before) {
      gaps.duplicates += 1;
      continue;
    }
    gaps.numbered += 1;
    gaps.missing += static_cast<uint64_t>(event.sequence - before - 1);
    gaps.out_of_order += timed && event.time_ns < time_before ? 1 : 0;
    before = event.sequence;
    time_before = event.time_ns;
  }
}

void count_all(std::vector<Numbered>& events, bool timed, LockGaps& gaps) {
  std::sort(events.begin(), events.end());
  for (size_t first = 0, last = 0; first < events.size(); first = last) {
    while (last < events.size() && events[last].counter == events[first].counter) ++last;
    count_one({&events[first], last - first}, timed, gaps);
  }
  events.clear();
}

}  // namespace

LockGaps lock_gaps(const LockEvents& events) {
  LockGaps gaps;
  gaps.checked = events.complete();
  if (!gaps.checked) return gaps;
  std::vector<Numbered> numbers;
  // Each generation has a counter of its own, and numbers are drawn by the one who holds the monitor. Of a release that
  // does not know any more which object it was about, the generation still tells.
  for (const MonitorEnter& enter : events.enters) {
    add_number(numbers, enter.period.generation, enter.sequence, enter.end_ns);
  }
  for (const MonitorExit& exit : events.exits) {
    add_number(numbers, exit.period.generation, exit.sequence, exit.time_ns);
  }
  count_all(numbers, true, gaps);
  // Parks and unparks have one for all, and it does not follow their times.
  for (const ThreadPark& park : events.parks) add_number(numbers, 0, park.number, park.begin_ns);
  for (const Unpark& unpark : events.unparks) add_number(numbers, 0, unpark.number, unpark.time_ns);
  count_all(numbers, false, gaps);
  return gaps;
}

}  // namespace tarsier::analysis
