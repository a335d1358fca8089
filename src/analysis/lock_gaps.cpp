#include "analysis/lock_gaps.h"

#include <algorithm>
#include <vector>

#include "analysis/grouped_indices.h"

namespace tarsier::analysis {
namespace {

// No recording loses so many events in one place: the number itself is wrong.
constexpr int64_t kWidestGap = 1'000'000'000;

struct Numbered {
  int64_t sequence = 0;
  int64_t time_ns = 0;
  auto operator<=>(const Numbered&) const = default;
};

void add_number(std::vector<Numbered>& events, int64_t sequence, int64_t time_ns) {
  if (sequence != 0) events.push_back({sequence, time_ns});
}

// Of one counter, which began with 1. Takes `events` apart.
void count(std::vector<Numbered>& events, bool timed, LockGaps& gaps) {
  std::sort(events.begin(), events.end());
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

}  // namespace

LockGaps lock_gaps(const LockEvents& events) {
  LockGaps gaps;
  // Each period of a monitor has a counter of its own, and numbers are drawn by the one who holds it.
  const size_t periods = events.periods.size();
  const GroupedIndices enters(events.enters, periods, [](const MonitorEnter& e) { return e.period.value; });
  const GroupedIndices exits(events.exits, periods, [](const MonitorExit& e) { return e.period.value; });
  std::vector<Numbered> numbers;
  for (size_t i = 0; i < periods; ++i) {
    numbers.clear();
    for (const uint32_t e : enters.of(i)) add_number(numbers, events.enters[e].sequence, events.enters[e].end_ns);
    for (const uint32_t e : exits.of(i)) add_number(numbers, events.exits[e].sequence, events.exits[e].time_ns);
    count(numbers, true, gaps);
  }
  // Parks and unparks have one for all. Nobody holds anything then: times may be out of step.
  numbers.clear();
  for (const ThreadPark& park : events.parks) {
    add_number(numbers, park.sequence, park.begin_ns);
    add_number(numbers, park.end_sequence, park.end_ns);
  }
  for (const Unpark& unpark : events.unparks) add_number(numbers, unpark.sequence, unpark.time_ns);
  count(numbers, false, gaps);
  return gaps;
}

}  // namespace tarsier::analysis
