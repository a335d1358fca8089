#include "analysis/lock_gaps.h"

#include <gtest/gtest.h>

#include "analysis/lock_trace.h"

namespace tarsier::analysis {
namespace {

class LockGapsTest : public ::testing::Test {
 protected:
  LockTrace trace;
  ThreadIndex a = trace.thread("A"), b = trace.thread("B");
  LockIndex lock = trace.lock("p.Lock", 1);
  MonitorPeriod period = trace.period(lock, 1);
};

TEST_F(LockGapsTest, a_complete_trace_has_none) {
  trace.exit(period, a, 30, 1, "main;a");
  trace.enter(period, b, 10, 32, 2);
  trace.exit(trace.period(lock, 2), a, 40, 1, "main;a");
  trace.park(lock, b, 50, 62, 101, 123).number = 2;
  trace.unpark(a, b, 60, 120, "main;a").number = 1;
  trace.exit(period, a, 35, 0, "main;a");             // told late: has no number
  trace.enter(period, b, 70, 90, 0).entered = false;  // nor has this
  const LockGaps gaps = lock_gaps(trace.events());
  EXPECT_FALSE(gaps.any());
  EXPECT_EQ(gaps.numbered, 5U);
}

TEST_F(LockGapsTest, a_release_that_lost_its_object_is_not_missing) {
  trace.exit(period, a, 30, 1, "main;a");
  trace.exit(trace.period(trace.lock("p.Lock", 0), 1), a, 31, 2, "main;a");
  trace.enter(period, b, 10, 32, 3);
  EXPECT_FALSE(lock_gaps(trace.events()).any());
}

TEST_F(LockGapsTest, numbers_that_are_not_there_are_missing_events) {
  trace.exit(period, a, 30, 3, "main;a");
  trace.enter(period, b, 10, 32, 5);
  trace.park(lock, b, 50, 62, 101, 123).number = 4;
  trace.unpark(a, b, 60, 120, "main;a").number = 6;
  EXPECT_EQ(lock_gaps(trace.events()).missing, 3U + 4U);
}

TEST_F(LockGapsTest, numbers_twice_and_times_that_go_back_are_told) {
  trace.exit(period, a, 30, 1, "main;a");
  trace.exit(period, b, 30, 1, "main;b");
  trace.enter(period, b, 10, 20, 2);
  const LockGaps gaps = lock_gaps(trace.events());
  EXPECT_EQ(gaps.duplicates, 1U);
  EXPECT_EQ(gaps.out_of_order, 1U);
  EXPECT_EQ(gaps.missing, 0U);
}

TEST_F(LockGapsTest, numbers_beyond_all_others_are_damage) {
  trace.exit(period, a, 30, 1, "main;a");
  trace.exit(period, a, 30, INT64_MAX, "main;a");
  trace.exit(period, a, 30, INT64_MIN, "main;a");
  const LockGaps gaps = lock_gaps(trace.events());
  EXPECT_EQ(gaps.out_of_bounds, 2U);
  EXPECT_EQ(gaps.missing, 0U);
  EXPECT_EQ(gaps.numbered, 1U);
}

}  // namespace
}  // namespace tarsier::analysis
