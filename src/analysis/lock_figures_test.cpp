// The event sequences that the research draws and describes, with the contentions that follow from them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/lock_trace.h"

namespace tarsier::analysis {
namespace {

using ::testing::ElementsAre;

class LockFigures : public ::testing::Test {
 protected:
  LockTrace trace;
  ThreadIndex t1 = trace.thread("T1"), t2 = trace.thread("T2"), t3 = trace.thread("T3"), t4 = trace.thread("T4");
};

// T1 has the monitor without contention. T2, then T3 block. T1 lets go, T2 enters; T2 lets go, T3 enters. When T3 lets
// go nobody waits any more, so there is no event.
TEST_F(LockFigures, three_threads_on_a_monitor) {
  const MonitorPeriod period = trace.period(trace.lock("p.Lock", 1), 1);
  trace.enter(period, t2, 10, 33, 2, "main;m2");
  trace.enter(period, t3, 20, 53, 4, "main;m3");
  trace.exit(period, t1, 30, 1, "main;m1");
  trace.exit(period, t2, 50, 3, "main;m2");
  EXPECT_THAT(trace.contentions(),
              ElementsAre("T2 10 T1:m1 30 hand-off 33", "T3 20 T1:m1 30 hand-off 33 T2:m2 50 hand-off 53"));
}

// T1 has the lock, T2 and T4 park. T1 unparks T2, but T3 takes the lock before T2 is awake: T2 parks again, until T3
// unparks it. T4 stays parked.
TEST_F(LockFigures, four_threads_on_an_unfair_lock_of_which_one_barges_in) {
  const LockIndex lock = trace.lock("java.util.concurrent.locks.ReentrantLock$NonfairSync", 1);
  trace.park(lock, t2, 10, 34, 1, 4).owner = t1;
  trace.park(lock, t4, 20, 90, 2, 0).owner = t1;
  trace.unpark(t1, t2, 30, 3, "main;m1");
  trace.park(lock, t2, 36, 54, 5, 7).owner = t3;
  trace.unpark(t3, t2, 50, 6, "main;m3");
  EXPECT_THAT(trace.contentions(), ElementsAre("T2 10 T1:m1 30 hand-off 34", "T4 20 T1:m1 30 T3:m3 50 unknown 90",
                                               "T2 36 T3:m3 50 hand-off 54"));
}

// A queue with a monitor: T1 finds it empty and waits, which lets the lock go to T2, who is blocked. T2 puts something
// in and notifies; T1 wants the lock back, and T3 wants it, too. T2 lets go, T1 has it; T1 lets go, T3 has it.
TEST_F(LockFigures, wait_and_notify) {
  const MonitorPeriod period = trace.period(trace.lock("p.BlockingQueue", 1), 1);
  trace.enter(period, t2, 10, 22, 2, "main;put");
  trace.exit(period, t1, 20, 1, "main;take;awaitNotEmpty;java.lang.Object.wait");
  trace.enter(period, t1, 30, 43, 4, "main;take;awaitNotEmpty;java.lang.Object.wait").after_wait = true;
  trace.enter(period, t3, 35, 62, 6, "main;take");
  trace.exit(period, t2, 40, 3, "main;put");
  trace.exit(period, t1, 60, 5, "main;take");
  EXPECT_THAT(trace.contentions(),
              ElementsAre("T2 10 T1:java.lang.Object.wait 20 hand-off 22", "T1 after wait 30 T2:put 40 hand-off 43",
                          "T3 35 T2:put 40 hand-off 43 T1:take 60 hand-off 62"));
}

// T1 and T2 read. T3 wants to write and parks. T1 leaves, which nobody sees; T2 is the last one and unparks T3. While
// T3 writes, T4 wants to read, and so does T1. T3 unparks T4, and T4, since readers share it, T1.
TEST_F(LockFigures, of_a_read_write_lock_the_last_reader_and_every_writer_are_known) {
  const LockIndex lock = trace.lock("java.util.concurrent.locks.ReentrantReadWriteLock$NonfairSync", 1);
  trace.park(lock, t3, 10, 42, 1, 3, "main;write");
  trace.unpark(t2, t3, 40, 2, "main;read2");
  trace.park(lock, t4, 50, 72, 4, 7, "main;read").owner = t3;
  trace.park(lock, t1, 55, 76, 5, 9, "main;read").owner = t3;
  trace.unpark(t3, t4, 70, 6, "main;write");
  trace.unpark(t4, t1, 74, 8, "main;read");
  EXPECT_THAT(trace.contentions(), ElementsAre("T3 10 T2:read2 40 hand-off 42", "T4 50 T3:write 70 hand-off 72",
                                               "T1 55 T3:write 70 T4:read 74 hand-off 76"));
}

}  // namespace
}  // namespace tarsier::analysis
