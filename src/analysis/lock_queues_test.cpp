#include "analysis/lock_queues.h"

#include <gtest/gtest.h>

#include "analysis/lock_trace.h"

namespace tarsier::analysis {
namespace {

TEST(LockQueue, counts_who_waits_at_once) {
  // 10..30 and 20..40, then 50..60.
  const std::vector<BlockedSpan> spans = {{10, 30, {}, ThreadIndex(1)}, {20, 40, {}, ThreadIndex(2)}, {50, 60, {}, {}}};
  const LockQueue queue = lock_queue(spans);
  EXPECT_EQ(queue.most, 2U);
  EXPECT_EQ(queue.busy_ns, 40);
  EXPECT_EQ(queue.queued_ns, 50);
  EXPECT_DOUBLE_EQ(queue.mean(), 1.25);
  EXPECT_EQ(queue.convoys, 0U);
  EXPECT_EQ(lock_queue({}).most, 0U);
}

TEST(LockQueue, a_convoy_is_a_queue_that_does_not_empty_over_many_hand_overs) {
  std::vector<BlockedSpan> spans;
  const auto hand_overs = static_cast<int64_t>(kManyHandOvers);
  // Each comes before the one before it has gone.
  for (int64_t i = 0; i < hand_overs; ++i) spans.push_back({i * 10, i * 10 + 15, {}, {}});
  LockQueue queue = lock_queue(spans);
  EXPECT_EQ(queue.convoys, 1U);
  EXPECT_EQ(queue.longest.hand_overs, kManyHandOvers);
  EXPECT_EQ(queue.longest.begin_ns, 0);
  EXPECT_EQ(queue.convoy_ns, hand_overs * 10 + 5);
  EXPECT_EQ(queue.busy_ns, queue.convoy_ns);
  // After it: many, but each finds the queue empty.
  for (int64_t i = 1; i <= 2 * hand_overs; ++i) spans.push_back({i * 1000, i * 1000 + 15, {}, {}});
  queue = lock_queue(spans);
  EXPECT_EQ(queue.convoys, 1U);
  spans.erase(spans.begin());
  EXPECT_EQ(lock_queue(spans).convoys, 0U);
}

TEST(LockQueue, hand_offs_are_counted_once_however_many_wait) {
  LockTrace trace;
  const auto a = trace.thread("A"), b = trace.thread("B"), c = trace.thread("C");
  const LockIndex lock = trace.lock("p.Lock", 1);
  const MonitorPeriod period = trace.period(lock, 1);
  trace.exit(period, a, 30, 1, "main;a");
  trace.enter(period, b, 10, 32, 2);
  trace.exit(period, b, 50, 3, "main;b");
  trace.enter(period, c, 12, 55, 4);
  const LockCode code(trace.model);
  const BlockedTimes times = blocked_times(trace.model, code, {});
  const LockSum& sum = times.sum(lock);
  EXPECT_EQ(sum.hand_offs.count(), 2U);
  EXPECT_EQ(sum.hand_offs.percentile(0.5), 2);
  EXPECT_EQ(sum.hand_offs.max(), 5);
  EXPECT_EQ(sum.blocked_ns, 22 + 43);
  EXPECT_EQ(sum.contentions, 2U);
}

}  // namespace
}  // namespace tarsier::analysis
