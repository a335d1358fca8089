#include "analysis/thread_activity.h"

#include <gtest/gtest.h>

#include "analysis/lock_trace.h"

namespace tarsier::analysis {
namespace {

class ThreadActivity : public ::testing::Test {
 protected:
  LockTrace trace;
  ThreadIndex a = trace.thread("A"), b = trace.thread("B");

  void wait(ThreadIndex thread, const std::string& kind, int64_t begin, int64_t length) {
    auto& kinds = trace.model.wait_kinds;
    auto at = std::find(kinds.begin(), kinds.end(), kind);
    if (at == kinds.end()) at = kinds.insert(at, kind);
    trace.model.waits.push_back({static_cast<uint8_t>(at - kinds.begin()), false});
    trace.model.others[static_cast<size_t>(Profile::kWaits)].push_back(
        {.time_ns = begin, .thread = thread, .stack = trace.stack("main;waits"), .weight = length});
  }
  std::vector<Activity> activities(const std::vector<ActivePeriod>& periods, size_t rows = 1) const {
    const LockCode code(trace.model);
    return thread_activity(trace.model, blocked_times(trace.model, code, {}), label_methods(trace.model, false),
                           periods, rows);
  }
};

TEST_F(ThreadActivity, is_made_of_what_was_sampled_within_the_periods) {
  trace.sample(a, "main;burn", 20, Nanos(110));
  trace.sample(a, "main;burn", 20, Nanos(130));
  trace.sample(a, "main;other", 20, Nanos(150));
  trace.sample(a, "main;later", 20, Nanos(200));
  trace.sample(b, "main;not.it", 20, Nanos(130));
  wait(a, "io", 160, 100);
  const Activity of = activities({{0, a, 100, 200}}).front();
  EXPECT_EQ(of.total_ns, 100);
  EXPECT_EQ(of.cpu_ns, 60);
  ASSERT_EQ(of.waited_ns.size(), 1U);
  EXPECT_EQ(of.waited_ns[0], 40);
  EXPECT_EQ(of.rest_ns(), 0);
  const Labels labels = label_methods(trace.model, false);
  ASSERT_EQ(of.methods.size(), 2U);
  EXPECT_EQ(labels.names[of.methods[0].label], "burn");
  EXPECT_EQ(of.methods[0].ns, 40);
}

TEST_F(ThreadActivity, periods_that_overlap_count_once_and_rows_apart) {
  trace.sample(a, "main;burn", 5, Nanos(150));
  const auto of = activities({{0, a, 100, 160}, {0, a, 140, 200}, {1, a, 140, 160}, {1, b, 140, 160}}, 2);
  EXPECT_EQ(of[0].total_ns, 100);
  EXPECT_EQ(of[0].cpu_ns, 5);
  EXPECT_EQ(of[1].total_ns, 40);
  EXPECT_EQ(of[1].cpu_ns, 5);
  EXPECT_EQ(of[1].rest_ns(), 35);
}

TEST_F(ThreadActivity, what_lock_events_tell_is_not_counted_again_as_a_wait) {
  const LockIndex lock = trace.lock("java.util.concurrent.locks.ReentrantLock$NonfairSync", 1);
  const LockIndex task = trace.lock("java.util.concurrent.FutureTask", 2);
  trace.park(lock, a, 100, 130, 1, 2);
  trace.park(task, a, 140, 150, 3, 4);
  wait(a, "parked", 100, 30);
  wait(a, "parked", 140, 10);
  wait(a, "sleeping", 150, 20);
  const Activity of = activities({{0, a, 100, 200}}).front();
  EXPECT_EQ(of.blocked_ns, 30);
  EXPECT_EQ(of.parked_ns, 10);
  EXPECT_EQ(of.waited_ns[0], 0);
  EXPECT_EQ(of.waited_ns[1], 20);
  EXPECT_EQ(of.rest_ns(), 40);
}

TEST_F(ThreadActivity, the_way_to_the_lock_is_no_time_of_its_owner) {
  const LockIndex lock = trace.lock("java.util.concurrent.locks.ReentrantLock$NonfairSync", 1);
  trace.park(lock, a, 90, 130, 1, 2);
  const Activity of = activities({{0, a, 100, 200, lock}}).front();
  EXPECT_EQ(of.total_ns, 70);
  EXPECT_EQ(of.blocked_ns, 0);
}

TEST_F(ThreadActivity, is_known_only_if_something_was_sampled) {
  EXPECT_FALSE(activity_recorded(trace.model));
  wait(a, "io", 160, 100);
  EXPECT_TRUE(activity_recorded(trace.model));
  // A thread that there is not.
  EXPECT_EQ(activities({{0, kNobody, 100, 200}}).front().total_ns, 0);
}

TEST_F(ThreadActivity, times_at_the_end_of_all_numbers_do_no_harm) {
  wait(a, "io", INT64_MAX - 3, 100);
  trace.sample(a, "main;burn", 5, Nanos(INT64_MAX));
  EXPECT_EQ(activities({{0, a, 100, 200}}).front().cpu_ns, 0);
}

}  // namespace
}  // namespace tarsier::analysis
