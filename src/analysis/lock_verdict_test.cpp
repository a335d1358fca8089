#include "analysis/lock_verdict.h"

#include <gtest/gtest.h>

#include <tuple>

#include "analysis/lock_trace.h"

namespace tarsier::analysis {
namespace {

class LockVerdict : public ::testing::Test {
 protected:
  LockTrace trace;
  ThreadIndex a = trace.thread("A"), b = trace.thread("B"), c = trace.thread("C");
  LockIndex lock = trace.lock("java.util.concurrent.locks.ReentrantLock$NonfairSync", 0x3ae26333);
  static constexpr int64_t kSecond = 1'000'000'000;
};

TEST_F(LockVerdict, names_who_suffers_who_causes_it_and_the_lock) {
  trace.park(lock, b, 0, 2 * kSecond, 1, 3,
             "main;p.Table.queryByArticleNo;java.util.concurrent.locks.ReentrantLock.lock");
  trace.unpark(a, b, 2 * kSecond, 2, "main;p.Table.queryByName;java.util.concurrent.locks.ReentrantLock.unlock");
  EXPECT_EQ(lock_verdict(trace.model).waiting,
            "Lock waiting 2.00 s: 100.0 % in p.Table.queryByArticleNo, caused almost wholly by p.Table.queryByName "
            "holding ReentrantLock@3ae26333.");
}

TEST_F(LockVerdict, says_how_much_is_due_to_the_one_it_names) {
  trace.park(lock, b, 0, 2 * kSecond, 1, 6, "main;want");
  trace.park(lock, c, 0, kSecond / 2, 2, 4, "main;want");
  trace.unpark(a, c, kSecond / 2, 3, "main;first");
  trace.unpark(c, b, 2 * kSecond, 5, "main;second");
  EXPECT_EQ(lock_verdict(trace.model).waiting,
            "Lock waiting 2.50 s: 100.0 % in want, caused mostly (60.0 %) by second holding ReentrantLock@3ae26333.");
}

TEST_F(LockVerdict, tells_how_to_learn_who_held_it) {
  const MonitorPeriod period = trace.period(lock, 1);
  trace.enter(period, b, 0, kSecond, 1, "main;want");
  EXPECT_EQ(lock_verdict(trace.model).waiting,
            "Lock waiting 1.00 s: 100.0 % in want, for ReentrantLock@3ae26333; record --lock tells who held it.");
}

TEST_F(LockVerdict, names_a_method_rather_than_the_hand_off_and_does_not_pick_one_of_many_locks) {
  for (int i = 0; i < 4; ++i) {
    const MonitorPeriod period = trace.period(trace.lock("p.Lock", i), i);
    trace.exit(period, a, i * kSecond + kSecond / 10, 1, "main;holds");
    trace.enter(period, b, i * kSecond, i * kSecond + kSecond / 2, 2, "main;want");
  }
  EXPECT_EQ(
      lock_verdict(trace.model).waiting,
      "Lock waiting 2.00 s: 100.0 % in want, caused by several, most (20.0 %) by holds holding several locks, one "
      "of them Lock@0.");
}

TEST_F(LockVerdict, is_silent_where_hardly_anybody_waited) {
  EXPECT_EQ(lock_verdict(trace.model).waiting, "");
  trace.park(lock, b, 0, kSecond / 100, 1, 0, "main;want");  // of 10 s
  EXPECT_EQ(lock_verdict(trace.model).waiting, "");
  trace.park(trace.lock("java.util.concurrent.FutureTask", 1), c, 0, kSecond, 2, 0, "main;get");
  EXPECT_EQ(lock_verdict(trace.model).waiting, "");
}

// A waits for B all the time, and B, most of it, for C.
TEST_F(LockVerdict, names_the_root_where_the_owner_is_blocked_itself) {
  const MonitorPeriod outer = trace.period(trace.lock("p.Cache", 0x12), 1),
                      inner = trace.period(trace.lock("p.Log", 0x34), 1);
  trace.exit(outer, b, 2 * kSecond, 1, "main;p.Cache.fill");
  trace.enter(outer, a, 0, 2 * kSecond, 2, "main;p.Cache.get");
  EXPECT_EQ(lock_verdict(trace.model).root, "");
  trace.exit(inner, c, 2 * kSecond, 1, "main;p.Log.write");
  trace.enter(inner, b, kSecond / 2, 2 * kSecond, 2, "main;p.Cache.fill");
  EXPECT_EQ(
      lock_verdict(trace.model).root,
      "Root cause of 85.7 % of the lock waiting: p.Log.write holding Log@34; 42.9 % by way of others that wait for "
      "it while they are waited for, most of it p.Cache.fill holding Cache@12.");
}

TEST_F(LockVerdict, says_that_threads_wait_for_each_other) {
  const MonitorPeriod one = trace.period(trace.lock("p.One", 1), 1), two = trace.period(trace.lock("p.Two", 2), 1);
  for (const auto& [period, blocked, by] : {std::tuple(one, a, b), std::tuple(two, b, a)}) {
    MonitorEnter& enter = trace.enter(period, blocked, 0, kSecond, 0);
    enter.entered = false;
    enter.previous_owner = by;
  }
  EXPECT_EQ(lock_verdict(trace.model).root,
            "Root cause of 50.0 % of the lock waiting: threads that wait for each other, one of them for One@1.");
}

}  // namespace
}  // namespace tarsier::analysis
