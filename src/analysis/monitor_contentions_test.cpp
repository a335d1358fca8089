// Traces whose answer was worked out by hand.
#include "analysis/monitor_contentions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/lock_trace.h"

namespace tarsier::analysis {
namespace {

using ::testing::ElementsAre;

class ContentionsOfMonitors : public ::testing::Test {
 protected:
  LockTrace trace;
  ThreadIndex a = trace.thread("A"), b = trace.thread("B"), c = trace.thread("C"), d = trace.thread("D");
  LockIndex lock = trace.lock("p.Lock", 0x1234);
  MonitorPeriod period = trace.period(lock, 1);
};

TEST_F(ContentionsOfMonitors, the_blocked_share_the_same_owners_one_after_the_other) {
  trace.exit(period, a, 30, 1, "main;a");
  trace.enter(period, b, 10, 32, 2);
  trace.exit(period, b, 50, 3, "main;b");
  trace.enter(period, c, 12, 51, 4);
  EXPECT_THAT(trace.contentions(),
              ElementsAre("B 10 A:a 30 hand-off 32", "C 12 A:a 30 hand-off 32 B:b 50 hand-off 51"));
}

TEST_F(ContentionsOfMonitors, who_barges_in_has_it_since_the_release_before) {
  trace.exit(period, a, 30, 1, "main;a");
  trace.exit(period, d, 40, 2, "main;d").next_owner = b;
  trace.enter(period, b, 10, 42, 3);
  EXPECT_THAT(trace.contentions(), ElementsAre("B 10 A:a 30 D:d 40 hand-off 42"));
}

TEST_F(ContentionsOfMonitors, of_a_missing_release_the_entering_is_known) {
  trace.exit(period, a, 30, 1, "main;a");
  trace.enter(period, b, 10, 32, 2);
  trace.enter(period, c, 12, 51, 4);
  EXPECT_THAT(trace.contentions(), ElementsAre("B 10 A:a 30 hand-off 32", "C 12 A:a 30 hand-off 32 B:enter 51"));
}

TEST_F(ContentionsOfMonitors, of_a_release_that_nobody_saw_as_well) {
  trace.exit(period, a, 30, 1, "main;a");
  trace.enter(period, b, 10, 32, 2);
  trace.enter(period, c, 12, 51, 3);
  EXPECT_THAT(trace.contentions(), ElementsAre("B 10 A:a 30 hand-off 32", "C 12 A:a 30 hand-off 32 B:enter 51"));
}

TEST_F(ContentionsOfMonitors, where_several_events_are_missing_nothing_is_guessed) {
  trace.exit(period, a, 30, 1, "main;a");
  trace.exit(period, c, 40, 5, "main;c");
  trace.enter(period, b, 10, 42, 6);
  EXPECT_THAT(trace.contentions(), ElementsAre("B 10 A:a 30 unknown 40 hand-off 42"));
}

TEST_F(ContentionsOfMonitors, the_first_release_of_a_period_is_not_the_first_owner_if_events_are_missing) {
  trace.exit(period, a, 30, 3, "main;a");
  trace.enter(period, b, 10, 32, 4);
  EXPECT_THAT(trace.contentions(), ElementsAre("B 10 unknown 30 hand-off 32"));
  trace.events().enters[0].previous_owner = a;
  EXPECT_THAT(trace.contentions(), ElementsAre("B 10 A:a 30 hand-off 32"));
}

TEST_F(ContentionsOfMonitors, who_held_it_just_after_a_release_and_was_not_seen_again_is_known_by_thread) {
  trace.exit(period, a, 30, 1, "main;a").next_owner = d;
  trace.enter(period, b, 10, 42, 2);
  EXPECT_THAT(trace.contentions(), ElementsAre("B 10 A:a 30 D 42"));
}

TEST_F(ContentionsOfMonitors, two_owners_between_two_events_are_not_told_apart) {
  trace.exit(period, a, 30, 1, "main;a").next_owner = d;
  trace.exit(period, c, 40, 2, "main;c");
  trace.enter(period, b, 10, 42, 3);
  EXPECT_THAT(trace.contentions(), ElementsAre("B 10 A:a 30 unknown 40 hand-off 42"));
}

TEST_F(ContentionsOfMonitors, an_owner_that_was_seen_contradicts_the_one_who_let_go) {
  trace.exit(period, a, 30, 1, "main;a");
  trace.enter(period, b, 10, 42, 2).previous_owner = d;
  EXPECT_THAT(trace.contentions(), ElementsAre("B 10 unknown 30 hand-off 42"));
}

TEST_F(ContentionsOfMonitors, a_release_that_is_told_late_ends_the_time_before_the_next_one_entered) {
  trace.enter(period, b, 10, 32, 1);
  trace.exit(period, a, 33, 0, "main;a");
  trace.exit(period, b, 50, 2, "main;b");
  trace.enter(period, c, 12, 51, 3);
  EXPECT_THAT(trace.contentions(), ElementsAre("B 10 A:a 32", "C 12 A:a 32 B:b 50 hand-off 51"));
}

TEST_F(ContentionsOfMonitors, also_if_another_one_has_been_there_and_gone) {
  trace.enter(period, a, 5, 8, 1);
  trace.exit(period, d, 30, 2, "main;d");
  trace.exit(period, a, 31, 0, "main;a");
  trace.enter(period, b, 10, 32, 3);
  EXPECT_THAT(trace.contentions(), ElementsAre("A 5 unknown 8", "B 10 A:a 30 hand-off 32"));
}

TEST_F(ContentionsOfMonitors, waiting_lets_go_and_coming_back_may_be_blocked) {
  trace.exit(period, a, 20, 1, "main;waits;java.lang.Object.wait");
  trace.enter(period, b, 5, 21, 2);
  trace.exit(period, b, 40, 3, "main;notifies");
  trace.enter(period, a, 35, 42, 4).after_wait = true;
  EXPECT_THAT(trace.contentions(),
              ElementsAre("B 5 A:java.lang.Object.wait 20 hand-off 21", "A after wait 35 B:notifies 40 hand-off 42"));
}

TEST_F(ContentionsOfMonitors, who_is_still_blocked_at_the_end_waits_for_the_last_one_who_entered) {
  trace.exit(period, a, 30, 1, "main;a");
  trace.enter(period, b, 10, 32, 2);
  trace.enter(period, c, 12, 99, 0).entered = false;
  EXPECT_THAT(trace.contentions(), ElementsAre("B 10 A:a 30 hand-off 32", "C 12 A:a 30 hand-off 32 B:enter 99"));
}

TEST_F(ContentionsOfMonitors, with_the_blocked_side_only_owners_are_threads) {
  trace.enter(period, b, 10, 32, 1).previous_owner = a;
  trace.enter(period, c, 12, 51, 2).previous_owner = a;
  EXPECT_THAT(trace.contentions(), ElementsAre("B 10 A 32", "C 12 A 32 B 51"));
}

TEST_F(ContentionsOfMonitors, jfr_names_who_held_it_last) {
  MonitorEnter& first = trace.enter(period, b, 10, 32, 0);
  first.previous_owner = a;
  first.previous_at_end = true;
  MonitorEnter& second = trace.enter(period, c, 12, 51, 0);
  second.previous_owner = d;  // so B let go, and D barged in
  second.previous_at_end = true;
  trace.enter(period, d, 60, 70, 0);
  EXPECT_THAT(trace.contentions(), ElementsAre("B 10 A 32", "C 12 A 32 D 51", "D 60 C 70"));
}

TEST_F(ContentionsOfMonitors, periods_of_one_lock_know_nothing_of_each_other) {
  const MonitorPeriod second = trace.period(lock, 2);
  trace.exit(period, a, 30, 1, "main;a");
  trace.enter(period, b, 10, 32, 2);
  trace.exit(second, c, 80, 1, "main;c");
  trace.enter(second, d, 60, 82, 2);
  EXPECT_THAT(trace.contentions(), ElementsAre("B 10 A:a 30 hand-off 32", "D 60 C:c 80 hand-off 82"));
}

TEST_F(ContentionsOfMonitors, events_that_are_there_twice_count_once) {
  for (int i = 0; i < 2; ++i) {
    trace.exit(period, a, 30, 1, "main;a");
    trace.enter(period, b, 10, 32, 2);
  }
  EXPECT_THAT(trace.contentions(), ElementsAre("B 10 A:a 30 hand-off 32"));
}

TEST_F(ContentionsOfMonitors, a_release_without_a_stack_names_the_thread) {
  trace.exit(period, a, 30, 1, "main;a").stack = StackIndex(0);
  trace.enter(period, b, 10, 32, 2);
  EXPECT_THAT(trace.contentions(), ElementsAre("B 10 A 30 hand-off 32"));
}

TEST_F(ContentionsOfMonitors, nobody_waits_for_himself) {
  trace.exit(period, b, 30, 1, "main;b");
  trace.enter(period, b, 10, 32, 2);
  EXPECT_THAT(trace.contentions(), ElementsAre("B 10 unknown 30 hand-off 32"));
}

TEST_F(ContentionsOfMonitors, an_instant_is_a_contention) {
  trace.enter(period, b, 10, 10, 1);
  EXPECT_THAT(trace.contentions(), ElementsAre("B 10 unknown 10"));
}

TEST_F(ContentionsOfMonitors, beyond_the_budget_they_stay_whole) {
  trace.exit(period, a, 30, 1, "main;a");
  trace.enter(period, b, 10, 32, 2);
  trace.enter(period, c, 12, 51, 3);
  std::vector<size_t> pieces;
  const LockCode code(trace.model);
  Contentions contentions(
      code, [&](const Contention&, std::span<const Piece> of) { pieces.push_back(of.size()); }, PieceBudget(3));
  contentions.finish(trace.events());
  EXPECT_THAT(pieces, ElementsAre(2, 2));  // the last one: up to the release, and the rest
  EXPECT_EQ(contentions.account().uncut, 1);
}

}  // namespace
}  // namespace tarsier::analysis
