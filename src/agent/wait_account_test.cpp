#include <gtest/gtest.h>

#include <random>

#include "agent/engines/wait_account.h"

namespace tarsier::agent {
namespace {

constexpr WaitLimits kLimits{micros(100), millis(500)};

// A thread that does what it is told, and the looks that somebody would take at it.
struct Thread {
  Nanos at = seconds(1), cpu, queued;
  uint64_t waits = 0;
  bool asleep = false;

  void runs(Nanos time) {
    asleep = false;
    at += time;
    cpu += time;
  }
  void queues(Nanos time) {
    at += time;
    queued += time;
  }
  void falls_asleep() {
    ++waits;
    asleep = true;
  }
  void sleeps(Nanos time) { at += time; }
  [[nodiscard]] ThreadLook look() const { return {at, cpu, queued, waits, asleep}; }
};

Nanos accounted(const WaitAccount& account) {
  const WaitAccount::Sums& sums = account.sums();
  const Nanos open = account.open() ? account.open()->length : Nanos(0);
  return account.cpu() + account.queued() + sums.written.time + sums.shorter.time + sums.longer.time +
         sums.missed.time + open;
}

TEST(WaitAccount, a_wait_between_looks_has_its_true_length_without_the_queue) {
  Thread thread;
  WaitAccount account(kLimits, thread.look());
  thread.runs(millis(3));
  thread.falls_asleep();
  thread.sleeps(millis(1));
  EXPECT_FALSE(account.update(thread.look()));
  ASSERT_TRUE(account.open());
  EXPECT_EQ(account.open()->length, millis(1));
  EXPECT_EQ(account.open()->began, seconds(1) + millis(3));
  thread.sleeps(millis(4));
  account.sleeps_on(thread.at);
  EXPECT_EQ(account.open()->length, millis(5));
  thread.sleeps(millis(5));
  thread.queues(millis(7));  // woken, but without a CPU
  thread.runs(millis(2));
  thread.queues(millis(5));  // preempted
  thread.runs(millis(2));
  const auto ended = account.update(thread.look());
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->length, millis(10));
  EXPECT_FALSE(ended->from_before);
  EXPECT_FALSE(account.open());
  EXPECT_EQ(account.queued(), millis(12));
  account.settle(*ended, true);
  EXPECT_EQ(accounted(account), thread.at - seconds(1));
}

TEST(WaitAccount, preemption_is_no_wait) {
  Thread thread;
  WaitAccount account(kLimits, thread.look());
  for (int i = 0; i < 100; ++i) {
    thread.runs(millis(1));
    thread.queues(millis(20));
    thread.runs(micros(1));
    EXPECT_FALSE(account.update(thread.look()));
  }
  EXPECT_EQ(account.sums().shorter.time + account.sums().missed.time, Nanos(0));
  EXPECT_EQ(account.queued(), millis(2000));
}

TEST(WaitAccount, one_that_sleeps_at_the_first_look_began_before) {
  Thread thread;
  thread.falls_asleep();
  WaitAccount account(kLimits, thread.look());
  ASSERT_TRUE(account.open());
  thread.sleeps(millis(4));
  EXPECT_FALSE(account.update(thread.look()));
  thread.runs(millis(1));
  const auto ended = account.update(thread.look());
  ASSERT_TRUE(ended);
  EXPECT_TRUE(ended->from_before);
  EXPECT_EQ(ended->length, millis(4));
}

TEST(WaitAccount, waits_are_sorted_by_their_length) {
  Thread thread;
  WaitAccount account(kLimits, thread.look());
  for (const Nanos length : {micros(20), millis(10), seconds(1)}) {
    const WaitAccount::Wait wait{thread.at, length, false};
    EXPECT_EQ(account.deserves_event(wait), length == millis(10));
    account.settle(wait, true);
  }
  account.settle({thread.at, millis(7), false}, false);
  EXPECT_EQ(account.sums().shorter.time, micros(20));
  EXPECT_EQ(account.sums().written.time, millis(10));
  EXPECT_EQ(account.sums().longer.time, seconds(1));
  EXPECT_EQ(account.sums().missed.time, millis(7));
}

TEST(WaitAccount, short_waits_between_looks_are_counted_and_summed) {
  Thread thread;
  WaitAccount account(kLimits, thread.look());
  for (int look = 0; look < 10; ++look) {
    for (int i = 0; i < 10; ++i) {
      thread.falls_asleep();
      thread.sleeps(micros(20));
      thread.runs(micros(5));
    }
    EXPECT_FALSE(account.update(thread.look()));
  }
  EXPECT_EQ(account.sums().shorter.count, 100U);
  EXPECT_EQ(account.sums().shorter.time, micros(2000));
  EXPECT_EQ(accounted(account), thread.at - seconds(1));
}

TEST(WaitAccount, what_was_seen_of_a_wait_is_not_shared_with_those_that_follow_it) {
  Thread thread;
  WaitAccount account(kLimits, thread.look());
  thread.falls_asleep();
  EXPECT_FALSE(account.update(thread.look()));
  thread.sleeps(millis(99));
  account.sleeps_on(thread.at);
  thread.sleeps(millis(1));
  thread.runs(micros(10));
  thread.falls_asleep();
  thread.sleeps(millis(1));
  const auto ended = account.update(thread.look());
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->length, millis(100));
  ASSERT_TRUE(account.open());
  EXPECT_EQ(account.open()->length, millis(1));
}

TEST(WaitAccount, the_run_queue_is_no_part_of_a_wait_even_if_it_looks_like_it) {
  Thread thread;
  WaitAccount account(kLimits, thread.look());
  thread.falls_asleep();
  thread.sleeps(millis(10));
  EXPECT_FALSE(account.update(thread.look()));
  thread.queues(millis(40));     // woken, but without a CPU:
  account.sleeps_on(thread.at);  // its CPU clock stands still
  thread.runs(millis(1));
  const auto ended = account.update(thread.look());
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->length, millis(10));
  account.settle(*ended, true);
  EXPECT_EQ(accounted(account), thread.at - seconds(1));
}

TEST(WaitAccount, a_wait_that_was_counted_just_before_it_was_slept_is_one) {
  Thread thread;
  ++thread.waits;
  WaitAccount account(kLimits, thread.look());
  thread.asleep = true;
  thread.sleeps(millis(5));
  EXPECT_FALSE(account.update(thread.look()));
  ASSERT_TRUE(account.open());
  EXPECT_EQ(account.open()->length, millis(5));
}

// Looks fall anywhere; waits in two places in turn. Single lengths are off, sums are not, and none is lost.
TEST(WaitAccount, sums_are_right_when_a_wait_ends_and_another_begins_between_two_looks) {
  std::mt19937_64 random(7);
  std::uniform_int_distribution<int64_t> pause(500'000, 1'500'000);
  Thread thread;
  WaitAccount account({micros(100), Nanos(0)}, thread.look());
  Nanos next_look = thread.at + Nanos(pause(random));
  Nanos sums[2], truth[2];
  uint64_t counts[2] = {};
  int open_place = 0;
  const auto pass = [&](Nanos time, int place) {
    while (thread.at + time > next_look) {
      const Nanos part = next_look - thread.at;
      thread.sleeps(part);
      time -= part;
      if (const auto ended = account.update(thread.look())) {
        sums[open_place] += ended->length;
        ++counts[open_place];
        account.settle(*ended, true);
      }
      open_place = place;
      next_look += Nanos(pause(random));
    }
    thread.sleeps(time);
  };
  constexpr int kRounds = 2000;
  for (int i = 0; i < kRounds; ++i) {
    const int place = i % 2;
    const Nanos length = millis(place == 0 ? 4 : 12);
    thread.runs(micros(10));
    thread.falls_asleep();
    truth[place] += length;
    pass(length, place);
  }
  EXPECT_GE(counts[0] + counts[1], kRounds - 1U);
  for (int place = 0; place < 2; ++place) {
    const double ratio = static_cast<double>(sums[place].count) / static_cast<double>(truth[place].count);
    EXPECT_NEAR(ratio, 1, 0.01) << place;
  }
  EXPECT_EQ(account.sums().missed.count, 0U);
}

}  // namespace
}  // namespace tarsier::agent
