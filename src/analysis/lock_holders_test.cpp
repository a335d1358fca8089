// Traces whose answer was worked out by hand.
#include "analysis/lock_holders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/lock_trace.h"

namespace tarsier::analysis {
namespace {

using ::testing::ElementsAre;

class HoldersOfLocks : public ::testing::Test {
 protected:
  LockTrace trace;
  ThreadIndex a = trace.thread("A"), b = trace.thread("B"), c = trace.thread("C"), w = trace.thread("W");
  LockIndex lock = trace.lock("java.util.concurrent.locks.ReentrantReadWriteLock$NonfairSync", 0x1234);
  LockIndex other = trace.lock("java.util.concurrent.Semaphore$NonfairSync", 0x5678);
};

// A and B read, W wants to write: half of the time in which both do is of either.
TEST_F(HoldersOfLocks, those_who_hold_it_at_a_time_have_equal_parts) {
  trace.hold(lock, a, 0, 40, "main;a");
  trace.hold(lock, b, 5, 60, "main;b");
  trace.park(lock, w, 10, 65, 1, 3);
  trace.unpark(b, w, 61, 2, "main;b");
  EXPECT_THAT(trace.contentions(), ElementsAre("W 10 A:a 25 B:b 60 hand-off 65"));
}

TEST_F(HoldersOfLocks, it_is_cut_where_one_comes_or_goes) {
  trace.hold(lock, a, 0, 100, "main;a");
  trace.hold(lock, b, 40, 70, "main;b");
  trace.hold(lock, c, 50, 50, "main;c");
  trace.park(lock, w, 20, 102, 1, 3);
  trace.unpark(a, w, 101, 2, "main;a");
  EXPECT_THAT(trace.contentions(), ElementsAre("W 20 A:a 45 B:b 50 A:a 60 B:b 70 A:a 100 hand-off 102"));
}

// Who was woken up gives the word to the next reader: by unparks alone that one would be the owner.
TEST_F(HoldersOfLocks, a_wait_belongs_to_the_holder_and_not_to_who_passed_the_word_on) {
  trace.hold(lock, w, 0, 30, "main;w");
  trace.hold(lock, a, 33, 90, "main;a");
  trace.park(lock, a, 10, 32, 1, 4);
  trace.unpark(w, a, 31, 3, "main;w");
  trace.park(lock, b, 12, 36, 2, 6);
  trace.unpark(a, b, 33, 5, "main;a");
  EXPECT_THAT(trace.contentions(), ElementsAre("A 10 W:w 30 hand-off 32", "B 12 W:w 30 hand-off 36"));
}

TEST_F(HoldersOfLocks, what_a_thread_holds_itself_does_not_keep_it_waiting) {
  trace.hold(other, b, 0, 90, "main;b");
  trace.hold(other, a, 0, 30, "main;a");
  trace.park(other, b, 10, 31, 1, 3);
  trace.unpark(a, b, 30, 2, "main;a");
  EXPECT_THAT(trace.contentions(), ElementsAre("B 10 A:a 30 hand-off 31"));
}

TEST_F(HoldersOfLocks, what_was_held_when_the_recording_began_counts_from_before_every_wait) {
  trace.hold_from_before(other, a, 30, "main;a");
  trace.park(other, b, 10, 31, 1, 3);
  trace.unpark(a, b, 30, 2, "main;a");
  trace.park(other, c, 40, 51, 4, 6);
  trace.unpark(b, c, 50, 5, "main;b");
  EXPECT_THAT(trace.contentions(), ElementsAre("B 10 A:a 30 hand-off 31", "C 40 B:b 50 hand-off 51"));
}

// B and C take permits and never give one back; A gives what it has never taken, and is who they wait for.
TEST_F(HoldersOfLocks, permits_that_are_signals_are_held_by_nobody) {
  trace.hold(other, b, 5, 1000, "main;b");
  trace.hold(other, c, 6, 1000, "main;c");
  for (const int64_t time : {30, 50, 70}) trace.hold_from_before(other, a, time, "main;a");
  trace.park(other, b, 10, 31, 1, 3);
  trace.unpark(a, b, 30, 2, "main;a");
  trace.park(other, c, 40, 51, 4, 6);
  trace.unpark(a, c, 50, 5, "main;a");
  EXPECT_THAT(trace.contentions(), ElementsAre("B 10 A:a 30 hand-off 31", "C 40 A:a 50 hand-off 51"));
}

TEST_F(HoldersOfLocks, locks_without_holds_are_told_by_unparks_as_ever) {
  trace.hold(other, c, 0, 100, "main;c");
  trace.park(lock, b, 10, 32, 1, 3);
  trace.unpark(a, b, 30, 2, "main;a");
  EXPECT_THAT(trace.contentions(), ElementsAre("B 10 A:a 30 hand-off 32"));
}

TEST_F(HoldersOfLocks, a_holder_without_a_chain_is_known_by_thread) {
  trace.hold(lock, a, 0, 40, "main;a").stack = StackIndex(0);
  trace.park(lock, w, 10, 45, 1, 2);
  EXPECT_THAT(trace.contentions(), ElementsAre("W 10 A 40 hand-off 45"));
}

// More than one block of them, of which a single one began long before.
TEST_F(HoldersOfLocks, a_long_hold_is_found_behind_many_short_ones) {
  trace.hold(lock, a, 5, 5000, "main;a");
  for (int64_t i = 0; i < 1000; ++i) trace.hold(lock, b, 1000 + 2 * i, 1001 + 2 * i, "main;b");
  trace.park(lock, w, 10, 30, 1, 2);
  EXPECT_THAT(trace.contentions(), ElementsAre("W 10 A:a 30"));
}

// Cut while they come, in any pieces: the same parts.
TEST_F(HoldersOfLocks, what_is_forgotten_is_counted_and_nothing_else_changes) {
  LockLimits limits;
  limits.changes = 100;
  LockAccount account;
  LockHolders holders(limits, account);
  LockEvents& events = trace.events();
  for (int64_t i = 0; i < 150; ++i) {
    events.holds.clear();
    trace.hold(lock, a, 10 * i, 10 * i + 6, "main;a");
    SettledEvents settled;
    holders.settle(events, settled);
    EXPECT_THAT(settled.holds, ElementsAre(true));
  }
  PieceBudget budget(5);
  PieceList pieces;
  const auto cut = [&](int64_t begin, int64_t end) {
    const ThreadPark park{.begin_ns = begin, .end_ns = end, .blocker = lock, .thread = w};
    const Contention contention{.begin_ns = begin, .end_ns = end, .lock = lock, .thread = w};
    pieces.start(contention);
    return holders.cut(park, end, pieces, budget) ? trace.line(contention, pieces.pieces()) : "nobody";
  };
  EXPECT_EQ(cut(1481, 1494), "W 1481 A:a 1486 hand-off 1490 A:a 1494");
  EXPECT_EQ(account.forgotten, 0U);
  EXPECT_EQ(cut(1, 4), "nobody");
  EXPECT_EQ(cut(1, 1494).substr(0, 12), "W 1 unknown ");
  EXPECT_EQ(account.forgotten, 1U);
  EXPECT_EQ(account.uncut, 1U) << "three pieces of the budget were left";
}

}  // namespace
}  // namespace tarsier::analysis
