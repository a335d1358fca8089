// Traces whose answer was worked out by hand.
#include "analysis/park_contentions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/lock_trace.h"

namespace tarsier::analysis {
namespace {

using ::testing::ElementsAre;

class ContentionsOfParks : public ::testing::Test {
 protected:
  LockTrace trace;
  ThreadIndex a = trace.thread("A"), b = trace.thread("B"), c = trace.thread("C"), d = trace.thread("D");
  LockIndex lock = trace.lock("java.util.concurrent.locks.ReentrantLock$NonfairSync", 0x1234);
  LockIndex other = trace.lock("java.util.concurrent.locks.ReentrantLock$NonfairSync", 0x5678);
};

// A holds it, B and C wait. A wakes B, but D barges in; B waits once more, until D lets go; then C has it.
TEST_F(ContentionsOfParks, an_unfair_lock_with_four_threads) {
  trace.park(lock, b, 10, 32, 1, 4).owner = a;
  trace.park(lock, c, 12, 61, 2, 9).owner = a;
  trace.unpark(a, b, 30, 3, "main;a");
  trace.park(lock, b, 33, 47, 5, 7).owner = d;
  trace.unpark(d, b, 45, 6, "main;d");
  trace.unpark(b, c, 60, 8, "main;b");
  EXPECT_THAT(trace.contentions(), ElementsAre("B 10 A:a 30 hand-off 32", "C 12 A:a 30 D:d 45 B:b 60 hand-off 61",
                                               "B 33 D:d 45 hand-off 47"));
}

TEST_F(ContentionsOfParks, an_owner_that_let_go_unseen_is_known_by_thread_until_the_next_one_woke_up) {
  trace.park(lock, b, 5, 20, 1, 3);
  trace.unpark(a, b, 18, 2, "main;a");
  trace.park(lock, c, 15, 61, 4, 6).owner = d;
  trace.unpark(b, c, 60, 5, "main;b");
  EXPECT_THAT(trace.contentions(), ElementsAre("B 5 A:a 18 hand-off 20", "C 15 D 20 B:b 60 hand-off 61"));
}

TEST_F(ContentionsOfParks, without_an_unpark_the_owner_at_the_begin_is_all_that_is_known) {
  trace.park(lock, b, 10, 32, 1, 2).owner = a;
  trace.park(lock, c, 12, 40, 3, 4);
  EXPECT_THAT(trace.contentions(), ElementsAre("B 10 A 32", "C 12 unknown 40"));
}

TEST_F(ContentionsOfParks, a_park_that_times_out_after_releases_has_no_known_owner_since_the_last_of_them) {
  trace.park(lock, b, 10, 35, 1, 5);
  trace.park(lock, c, 12, 32, 2, 4);
  trace.unpark(a, c, 30, 3, "main;a");
  EXPECT_THAT(trace.contentions(), ElementsAre("B 10 A:a 30 unknown 35", "C 12 A:a 30 hand-off 32"));
}

TEST_F(ContentionsOfParks, a_permit_given_before_makes_it_all_hand_off) {
  trace.unpark(a, b, 8, 1, "main;a");
  trace.park(lock, b, 10, 11, 2, 3);
  EXPECT_THAT(trace.contentions(), ElementsAre("B 10 hand-off 11"));
}

TEST_F(ContentionsOfParks, a_permit_given_before_is_a_release_only_of_what_was_waited_for_before_and_after) {
  trace.park(lock, d, 1, 50, 1, 20);  // waits all the time, and is a witness
  trace.park(lock, b, 2, 4, 2, 4);
  trace.unpark(a, b, 3, 3, "main;a1");
  trace.unpark(a, b, 8, 5, "main;a2");  // B was awake
  trace.park(lock, b, 10, 11, 6, 7);
  trace.unpark(c, b, 20, 8, "main;c");
  trace.park(other, b, 25, 26, 9, 10);
  EXPECT_THAT(trace.contentions(), ElementsAre("D 1 A:a1 3 A:a2 8 unknown 50", "B 2 A:a1 3 hand-off 4",
                                               "B 10 hand-off 11", "B 25 hand-off 26"));
}

TEST_F(ContentionsOfParks, the_unpark_of_the_park_before_is_not_used_again) {
  trace.park(lock, b, 10, 20, 1, 3);
  trace.unpark(a, b, 15, 2, "main;a");
  trace.park(lock, b, 25, 40, 4, 5);
  EXPECT_THAT(trace.contentions(), ElementsAre("B 10 A:a 15 hand-off 20", "B 25 unknown 40"));
}

TEST_F(ContentionsOfParks, locks_are_kept_apart) {
  trace.park(lock, b, 10, 31, 1, 4);
  trace.park(other, c, 10, 41, 2, 6);
  trace.unpark(a, b, 30, 3, "main;a");
  trace.unpark(d, c, 40, 5, "main;d");
  EXPECT_THAT(trace.contentions(), ElementsAre("B 10 A:a 30 hand-off 31", "C 10 D:d 40 hand-off 41"));
}

TEST_F(ContentionsOfParks, one_that_goes_on_is_cut_at_all_releases) {
  trace.park(lock, b, 10, 90, 1, 0);
  trace.park(lock, c, 12, 32, 2, 4);
  trace.unpark(a, c, 30, 3, "main;a");
  EXPECT_THAT(trace.contentions(), ElementsAre("B 10 A:a 30 unknown 90", "C 12 A:a 30 hand-off 32"));
}

TEST_F(ContentionsOfParks, without_a_blocker_nobody_is_named) {
  trace.park(kNoLock, b, 10, 31, 1, 3);
  trace.unpark(a, b, 30, 2, "main;a");
  EXPECT_THAT(trace.contentions(), ElementsAre("B 10 unknown 31"));
}

TEST_F(ContentionsOfParks, parks_of_jfr_have_no_owner) {
  trace.park(lock, b, 10, 31, 0, 0);
  trace.park(lock, b, 40, 50, 0, 0);
  EXPECT_THAT(trace.contentions(), ElementsAre("B 10 unknown 31", "B 40 unknown 50"));
}

TEST_F(ContentionsOfParks, events_that_are_there_twice_count_once) {
  for (int i = 0; i < 2; ++i) {
    trace.park(lock, b, 10, 32, 1, 3);
    trace.unpark(a, b, 30, 2, "main;a");
  }
  EXPECT_THAT(trace.contentions(), ElementsAre("B 10 A:a 30 hand-off 32"));
}

// signal() only moves the waiting thread to the queue of the lock: it is unlock() that wakes it up.
TEST_F(ContentionsOfParks, a_condition_and_getting_its_lock_back) {
  const LockIndex condition =
      trace.lock("java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject", 0x9abc);
  const char* await = "main;take;java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject.await";
  const char* again =
      "main;take;java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject.await;"
      "java.util.concurrent.locks.AbstractQueuedSynchronizer.acquire";
  trace.park(condition, b, 10, 31, 1, 3, await);
  trace.unpark(a, b, 30, 2, "main;put");
  trace.park(lock, b, 32, 41, 4, 6, again).owner = c;
  trace.unpark(c, b, 40, 5, "main;c");
  EXPECT_THAT(trace.contentions(), ElementsAre("B 10 A:put 30 hand-off 31", "B after wait 32 C:c 40 hand-off 41"));
}

TEST_F(ContentionsOfParks, a_release_that_wakes_up_a_condition_is_one_of_its_lock) {
  const LockIndex condition =
      trace.lock("java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject", 0x9abc);
  const std::string await = "main;java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject.await";
  // C waits for the lock behind B, who was signalled: A wakes up B, and B then C.
  trace.park(condition, b, 10, 31, 7, 11, await).condition_of = lock;
  trace.park(lock, c, 12, 41, 8, 13);
  trace.unpark(d, b, 20, 9, "main;java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject.signal");
  trace.unpark(a, b, 30, 10, "main;a");
  trace.unpark(b, c, 40, 12, "main;b");
  EXPECT_THAT(trace.contentions(),
              ElementsAre("B 10 D:java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject.signal 20 "
                          "A:a 30 hand-off 31",
                          "C 12 A:a 30 B:b 40 hand-off 41"));
}

TEST_F(ContentionsOfParks, the_blockers_class_tells_the_group) {
  const auto group = [&](const char* klass, const char* frames) {
    LockTrace own;
    const LockIndex of = own.lock(klass, 1);
    const StackIndex stack = own.stack(frames);
    return lock_group_name(LockCode(own.model).group_of(of, stack));
  };
  EXPECT_EQ(group("java.util.concurrent.locks.ReentrantLock$FairSync", "main"), "juc");
  EXPECT_EQ(group("java.util.concurrent.locks.ReentrantReadWriteLock$NonfairSync", "main"), "juc");
  EXPECT_EQ(group("java.util.concurrent.locks.StampedLock", "main"), "juc");
  EXPECT_EQ(group("java.util.concurrent.Semaphore$NonfairSync", "main"), "juc");
  EXPECT_EQ(group("java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject", "main"), "condition");
  EXPECT_EQ(group("java.util.concurrent.CountDownLatch$Sync",
                  "main;java.util.concurrent.locks.AbstractQueuedSynchronizer.acquire"),
            "other");
  EXPECT_EQ(group("java.util.concurrent.FutureTask", "main"), "other");
  EXPECT_EQ(group("java.util.concurrent.ForkJoinPool", "main"), "other");
  EXPECT_EQ(group("my.Lock$Sync",
                  "main;java.util.concurrent.locks.AbstractQueuedSynchronizer.acquire;"
                  "java.util.concurrent.locks.LockSupport.park;jdk.internal.misc.Unsafe.park"),
            "juc");
  EXPECT_EQ(group("my.Queue", "main;java.util.concurrent.locks.LockSupport.park"), "other");
}

}  // namespace
}  // namespace tarsier::analysis
