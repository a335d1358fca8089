// What the engine `handshake` decides without a JVM: who has run, whose turn it is, how long answers took.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <thread>
#include <vector>

#include "agent/engines/cpu_rounds.h"
#include "agent/engines/handshake_turn.h"
#include "agent/engines/latencies.h"
#include "agent/engines/thread_pattern.h"

namespace tarsier::agent {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const auto kAnybody = [](int) { return true; };
const auto kNobody = [](int) { return false; };

TEST(HandshakeTurn, those_with_the_most_unsampled_time_come_first) {
  HandshakeTurn<int> turn;
  turn.add(1, millis(1));
  turn.add(2, millis(3));
  turn.add(3, millis(2));
  EXPECT_THAT(turn.choose(2, kAnybody, kNobody), ElementsAre(2, 3));
  EXPECT_THAT(turn.choose(2, kNobody, kAnybody), ElementsAre(2, 3));
}

TEST(HandshakeTurn, those_that_run_come_before_those_that_wait_for_a_cpu) {
  HandshakeTurn<int> turn;
  for (int i = 1; i <= 4; ++i) turn.add(i, millis(i));
  const auto first_two_run = [](int thread) { return thread <= 2; };
  EXPECT_THAT(turn.choose(3, first_two_run, kAnybody), ElementsAre(2, 1, 4));
}

TEST(HandshakeTurn, whoever_sleeps_gives_up_the_place_to_the_next) {
  HandshakeTurn<int> turn;
  for (int i = 1; i <= 4; ++i) turn.add(i, millis(i));
  std::vector<int> asked_about;
  const auto queues = [&](int thread) {
    asked_about.push_back(thread);
    return thread % 2 == 1;
  };
  EXPECT_THAT(turn.choose(1, kNobody, queues), ElementsAre(3));
  EXPECT_THAT(asked_about, ElementsAre(4, 3)) << "of no more than needed";
}

TEST(HandshakeTurn, does_not_ask_about_thousands_of_sleepers) {
  HandshakeTurn<int> turn;
  for (int i = 0; i < 10'000; ++i) turn.add(i, millis(i));
  int questions = 0;
  const auto queues = [&](int) { return ++questions < 0; };
  EXPECT_THAT(turn.choose(2, kNobody, queues), IsEmpty());
  EXPECT_LT(questions, 20);
}

TEST(HandshakeTurn, every_tick_starts_anew) {
  HandshakeTurn<int> turn;
  turn.add(1, millis(1));
  EXPECT_THAT(turn.choose(0, kAnybody, kAnybody), IsEmpty());
  turn.begin();
  turn.add(2, millis(1));
  EXPECT_THAT(turn.choose(5, kAnybody, kAnybody), ElementsAre(2));
}

TEST(HandshakeTurn, with_too_many_runners_each_has_its_turn) {
  // Ten that run all the time, two at a tick: after five ticks everybody has been asked.
  std::map<int, int64_t> sampled;
  for (int tick = 1; tick <= 5; ++tick) {
    HandshakeTurn<int> turn;
    for (int i = 0; i < 10; ++i) turn.add(i, millis(tick - sampled[i]));
    for (const int chosen : turn.choose(2, kAnybody, kNobody)) sampled[chosen] = tick;
  }
  for (int i = 0; i < 10; ++i) EXPECT_GT(sampled[i], 0) << i;
}

// CPU clocks of made-up threads.
std::map<pid_t, Nanos> g_clocks;
int g_looks = 0;

std::optional<Nanos> read_made_up(pid_t tid) {
  ++g_looks;
  const auto it = g_clocks.find(tid);
  return it == g_clocks.end() ? std::nullopt : std::optional(it->second);
}

class Rounds : public testing::Test {
 protected:
  Rounds() : rounds_(read_made_up) {
    g_clocks.clear();
    g_looks = 0;
  }
  void add(pid_t tid) {
    g_clocks[tid] = Nanos(0);
    rounds_.add(tid, Nanos(0), tid);
  }
  // Who has run since the last round.
  std::vector<int> round() {
    std::vector<int> ran;
    rounds_.round([&](int& thread, pid_t, Nanos, bool has_run) {
      if (has_run) ran.push_back(thread);
      return has_run;
    });
    return ran;
  }
  CpuRounds<int> rounds_;
};

TEST_F(Rounds, tell_who_has_run) {
  add(1);
  add(2);
  g_clocks[2] = millis(1);
  EXPECT_THAT(round(), ElementsAre(2));
  EXPECT_THAT(round(), IsEmpty());
}

TEST_F(Rounds, look_at_few_of_those_that_do_not_run) {
  for (pid_t tid = 1; tid <= 10'000; ++tid) add(tid);
  for (int i = 0; i < 30; ++i) (void)round();
  g_looks = 0;
  (void)round();
  EXPECT_LT(g_looks, 200);
  // One that wakes up is found after some rounds, and from then on in each.
  g_clocks[77] = millis(1);
  int rounds = 1;
  while (round().empty()) ASSERT_LT(++rounds, 10'000 / 50);
  g_clocks[77] = millis(2);
  EXPECT_THAT(round(), ElementsAre(77));
}

TEST_F(Rounds, forget_threads_that_are_removed_or_gone) {
  for (pid_t tid = 1; tid <= 3; ++tid) add(tid);
  rounds_.remove_if([](int thread) { return thread == 2; });
  g_clocks.erase(1);
  for (auto& [tid, clock] : g_clocks) clock = millis(5);
  EXPECT_THAT(round(), ElementsAre(3));
}

TEST_F(Rounds, let_threads_come_and_go_meanwhile) {
  for (pid_t tid = 1; tid <= 500; ++tid) g_clocks[tid] = Nanos(0);
  std::thread others([this] {
    for (int again = 0; again < 20; ++again) {
      for (pid_t tid = 1; tid <= 500; ++tid) rounds_.add(tid, Nanos(0), tid);
      rounds_.remove_if([](int) { return true; });
    }
  });
  for (int i = 0; i < 100; ++i) (void)round();
  others.join();
  EXPECT_THAT(round(), IsEmpty());
  g_looks = 0;
  (void)round();
  EXPECT_EQ(g_looks, 0);
}

TEST(Latencies, tell_percentiles_to_a_few_percent) {
  Latencies latencies;
  EXPECT_EQ(latencies.percentile(50), Nanos(0));
  for (int i = 1; i <= 10'000; ++i) latencies.add(Nanos(i * 100));
  for (const double percent : {1.0, 50.0, 90.0, 99.0}) {
    EXPECT_NEAR(static_cast<double>(latencies.percentile(percent).count), percent * 10'000, percent * 10'000 * 0.04);
  }
  EXPECT_EQ(latencies.longest(), millis(1));
}

TEST(Latencies, stand_any_length) {
  Latencies latencies;
  latencies.add(Nanos(-5));
  EXPECT_EQ(latencies.percentile(50), Nanos(0));
  latencies.add(Nanos(INT64_MAX));
  latencies.add(Nanos(INT64_MAX));
  EXPECT_GT(latencies.percentile(50), seconds(3600));
  EXPECT_EQ(latencies.longest().count, INT64_MAX);
}

TEST(ThreadPattern, is_found_anywhere_in_the_name) {
  const auto pattern = ThreadPattern::make("^pool-[0-9]+|main");
  ASSERT_TRUE(pattern);
  EXPECT_TRUE(pattern->matches("pool-17-thread-2"));
  EXPECT_TRUE(pattern->matches("domain"));
  EXPECT_FALSE(pattern->matches("a pool-1"));
  EXPECT_TRUE(ThreadPattern::make("")->matches("anybody"));
}

TEST(ThreadPattern, that_makes_no_sense_is_a_usage_error) {
  const auto pattern = ThreadPattern::make("[");
  ASSERT_FALSE(pattern);
  EXPECT_EQ(pattern.error().code, Errc::kUsage);
  EXPECT_THAT(pattern.error().what, HasSubstr("thread expression '['"));
}

}  // namespace
}  // namespace tarsier::agent
