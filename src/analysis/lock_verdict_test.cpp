#include "analysis/lock_verdict.h"

#include <gtest/gtest.h>

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
  EXPECT_EQ(lock_verdict(trace.model),
            "Lock waiting 2.00 s: 100.0 % in p.Table.queryByArticleNo, caused almost wholly by p.Table.queryByName "
            "holding ReentrantLock@3ae26333.");
}

TEST_F(LockVerdict, says_how_much_is_due_to_the_one_it_names) {
  trace.park(lock, b, 0, 2 * kSecond, 1, 6, "main;want");
  trace.park(lock, c, 0, kSecond / 2, 2, 4, "main;want");
  trace.unpark(a, c, kSecond / 2, 3, "main;first");
  trace.unpark(c, b, 2 * kSecond, 5, "main;second");
  EXPECT_EQ(lock_verdict(trace.model),
            "Lock waiting 2.50 s: 100.0 % in want, caused mostly (60.0 %) by second holding ReentrantLock@3ae26333.");
}

TEST_F(LockVerdict, tells_how_to_learn_who_held_it) {
  const MonitorPeriod period = trace.period(lock, 1);
  trace.enter(period, b, 0, kSecond, 1, "main;want");
  EXPECT_EQ(lock_verdict(trace.model),
            "Lock waiting 1.00 s: 100.0 % in want, for ReentrantLock@3ae26333; record --lock tells who held it.");
}

TEST_F(LockVerdict, is_silent_where_hardly_anybody_waited) {
  EXPECT_EQ(lock_verdict(trace.model), "");
  trace.park(lock, b, 0, kSecond / 100, 1, 0, "main;want");  // of 10 s
  EXPECT_EQ(lock_verdict(trace.model), "");
  trace.park(trace.lock("java.util.concurrent.FutureTask", 1), c, 0, kSecond, 2, 0, "main;get");
  EXPECT_EQ(lock_verdict(trace.model), "");
}

}  // namespace
}  // namespace tarsier::analysis
