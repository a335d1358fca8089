#include "analysis/barrier_waits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/lock_trace.h"

namespace tarsier::analysis {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* kPark = ";java.util.concurrent.locks.LockSupport.park;jdk.internal.misc.Unsafe.park";

class BarrierWaitsTest : public ::testing::Test {
 protected:
  LockTrace trace;
  ThreadIndex a = trace.thread("A"), b = trace.thread("B"), c = trace.thread("C"), d = trace.thread("D");

  // "idle kind waiting-in slow-in slow-thread:ns waits threads"
  std::vector<std::string> rows(const Selection& selection = {}) const {
    const LockCode code(trace.model);
    const Labels labels = label_methods(trace.model, false);
    const BlockedTimes times = blocked_times(trace.model, code, selection);
    const BarrierWaits waits = barrier_waits(trace.model, code, times, selection, labels);
    std::vector<std::string> lines;
    for (const BarrierRow& row : waits.rows) {
      const std::string slow = row.slow.empty() ? "?" : row.slow;
      lines.push_back(std::to_string(row.idle_ns) + " " + std::string(row.kind) + " " + labels.names[row.waiting_in] +
                      " " + (row.slow_in == kNoLabel ? "?" : labels.names[row.slow_in]) + " " + slow + ":" +
                      std::to_string(row.slow_ns) + " " + std::to_string(row.waits) + " " +
                      std::to_string(row.waiting_threads));
    }
    return lines;
  }
  void wait(ThreadIndex thread, std::string_view frames, int64_t begin, int64_t length) {
    trace.model.wait_kinds = {"waiting"};
    trace.model.waits.push_back({0, false});
    trace.model.others[static_cast<size_t>(Profile::kWaits)].push_back(
        {.time_ns = begin, .thread = thread, .stack = trace.stack(frames), .weight = length});
  }
};

// A and B are early, C comes last, and lets A go; A then wakes up B.
TEST_F(BarrierWaitsTest, idle_time_is_due_to_the_one_that_came_last) {
  const LockIndex barrier = trace.lock("java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject", 1);
  const std::string await = std::string(
                                "main;p.Solver.step;java.util.concurrent.CyclicBarrier.await;"
                                "java.util.concurrent.CyclicBarrier.dowait") +
                            kPark;
  trace.park(barrier, a, 10, 102, 1, 4, await);
  trace.park(barrier, b, 20, 106, 2, 6, await);
  trace.unpark(c, a, 100, 3, "main;p.Solver.step;java.util.concurrent.CyclicBarrier.await");
  trace.unpark(a, b, 104, 5, "main;p.Solver.step;java.util.concurrent.CyclicBarrier.await");
  EXPECT_THAT(rows(), ElementsAre("172 CyclicBarrier p.Solver.step p.Solver.step C:170 3 2"));
}

// At a phaser those who were let go on help to wake up the others.
TEST_F(BarrierWaitsTest, who_was_waiting_there_itself_is_not_to_blame) {
  const std::string await = std::string("main;p.Solver.step;java.util.concurrent.Phaser.awaitAdvance") + kPark;
  const LockIndex one = trace.lock("java.util.concurrent.Phaser$QNode", 1);
  const LockIndex two = trace.lock("java.util.concurrent.Phaser$QNode", 2);
  trace.park(one, a, 10, 100, 1, 4, await);
  trace.park(two, b, 20, 105, 2, 6, await);
  trace.unpark(c, a, 100, 3, "main;p.Solver.step;java.util.concurrent.Phaser.arriveAndAwaitAdvance");
  trace.unpark(a, b, 105, 5, "main;p.Solver.step;java.util.concurrent.Phaser.awaitAdvance");
  EXPECT_THAT(rows(), ElementsAre("175 Phaser p.Solver.step p.Solver.step C:170 3 2"));
}

TEST_F(BarrierWaitsTest, a_latch_names_who_counted_down_to_zero) {
  const LockIndex latch = trace.lock("java.util.concurrent.CountDownLatch$Sync", 1);
  trace.park(latch, a, 10, 52, 1, 3,
             "main;p.Main.run;java.util.concurrent.CountDownLatch.await;"
             "java.util.concurrent.locks.AbstractQueuedSynchronizer.acquire");
  trace.unpark(b, a, 50, 2, "p.Task.run;p.Task.done;java.util.concurrent.CountDownLatch.countDown");
  EXPECT_THAT(rows(), ElementsAre("40 CountDownLatch p.Main.run p.Task.done B:40 1 1"));
}

TEST_F(BarrierWaitsTest, futures_name_the_thread_if_all_frames_are_of_the_jdk) {
  const LockIndex task = trace.lock("java.util.concurrent.FutureTask", 1);
  trace.park(task, a, 10, 50, 1, 3, std::string("main;p.Main.run;java.util.concurrent.FutureTask.get") + kPark);
  trace.unpark(b, a, 50, 2,
               "java.lang.Thread.run;java.util.concurrent.FutureTask.finishCompletion;"
               "java.util.concurrent.locks.LockSupport.unpark");
  EXPECT_THAT(rows(),
              ElementsAre("40 FutureTask p.Main.run java.util.concurrent.FutureTask.finishCompletion B:40 1 1"));
}

TEST_F(BarrierWaitsTest, idle_workers_and_locks_are_no_barriers) {
  const LockIndex queue = trace.lock("java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject", 1);
  trace.park(queue, a, 10, 50, 1, 3,
             std::string("java.lang.Thread.run;java.util.concurrent.ThreadPoolExecutor.getTask;"
                         "java.util.concurrent.LinkedBlockingQueue.take") +
                 kPark);
  trace.unpark(b, a, 50, 2, "main;submit");
  // A lock inside of a task that somebody waits for.
  const LockIndex lock = trace.lock("java.util.concurrent.locks.ReentrantLock$NonfairSync", 2);
  trace.park(lock, c, 10, 50, 4, 6, std::string("java.util.concurrent.FutureTask.run;p.Task.call") + kPark);
  trace.unpark(d, c, 50, 5, "main;d");
  EXPECT_THAT(rows(), IsEmpty());
}

TEST_F(BarrierWaitsTest, joins_are_known_from_waits_without_who_ended) {
  wait(a, "main;p.Main.run;java.lang.Thread.join;java.lang.Object.wait", 100, 40);
  wait(b, "main;p.Main.run;java.lang.Object.wait", 100, 40);
  EXPECT_THAT(rows(), ElementsAre("40 Thread.join p.Main.run ? ?:0 1 1"));
  const auto only_b = Selection::make(trace.model, {.thread_regex = "B"});
  EXPECT_THAT(rows(*only_b), IsEmpty());
}

}  // namespace
}  // namespace tarsier::analysis
