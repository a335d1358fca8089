#include "agent/scheduled_steal.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>

#include "agent/turns_reader.h"
#include "base/clock.h"
#include "linux/turn_loan.h"

namespace tarsier::agent {
namespace {

using Lost = std::unordered_map<pid_t, Nanos>;

const CpuTurns kNothing = {Nanos(0), {Nanos(0), Nanos(0)}, {}};
const std::vector<Nanos> kNoSteal = {Nanos(0), Nanos(0)};

TEST(ScheduledSteal, goes_to_those_that_were_on_the_cpu_it_was_taken_from) {
  ScheduledSteal steal(kNothing, kNoSteal);
  Lost lost;
  // 1 was alone on CPU 0; on CPU 1 there were 2, 3 and another process.
  steal.settle({millis(100), {millis(100), millis(80)}, {{1, 0, millis(100)}, {2, 1, millis(40)}, {3, 1, millis(20)}}},
               std::vector<Nanos>{Nanos(0), millis(40)}, lost);
  EXPECT_EQ(lost[1], Nanos(0));
  EXPECT_EQ(lost[2], millis(20));
  EXPECT_EQ(lost[3], millis(10));
}

TEST(ScheduledSteal, counts_what_came_since_the_last_time) {
  ScheduledSteal steal({seconds(1), {seconds(1)}, {{1, 0, seconds(1)}}}, std::vector<Nanos>{seconds(5)});
  Lost lost;
  steal.settle({seconds(2), {seconds(2)}, {{1, 0, seconds(1)}, {2, 0, seconds(1)}}}, std::vector<Nanos>{seconds(6)},
               lost);
  EXPECT_EQ(lost[1], Nanos(0));
  EXPECT_EQ(lost[2], seconds(1));
}

TEST(ScheduledSteal, waits_for_somebody_if_nobody_was_there) {
  ScheduledSteal steal(kNothing, kNoSteal);
  Lost lost;
  steal.settle({millis(10), {Nanos(0), Nanos(0)}, {}}, std::vector<Nanos>{millis(10), Nanos(0)}, lost);
  EXPECT_TRUE(lost.empty());
  steal.settle({millis(20), {millis(10), Nanos(0)}, {{7, 0, millis(10)}}}, std::vector<Nanos>{millis(10), Nanos(0)},
               lost);
  EXPECT_EQ(lost[7], millis(10));
}

TEST(ScheduledSteal, gives_a_turn_that_began_long_ago_no_more_than_the_time_since_the_last_look) {
  ScheduledSteal steal({seconds(9), {seconds(9)}, {}}, std::vector<Nanos>{Nanos(0)});
  Lost lost;
  steal.settle({seconds(10), {seconds(10)}, {{1, 0, seconds(5)}, {2, 0, seconds(1)}}}, std::vector<Nanos>{millis(100)},
               lost);
  EXPECT_EQ(lost[1], lost[2]);
}

TEST(ScheduledSteal, of_a_number_that_comes_again_starts_anew) {
  ScheduledSteal steal({Nanos(0), {Nanos(0)}, {{1, 0, seconds(7)}}}, std::vector<Nanos>{Nanos(0)});
  steal.forget_all_but({2});
  Lost lost;
  steal.settle({seconds(1), {seconds(1)}, {{1, 0, seconds(1)}}}, std::vector<Nanos>{millis(100)}, lost);
  EXPECT_EQ(lost[1], millis(100));
}

TEST(ScheduledSteal, of_clocks_that_go_back_and_cpus_that_come_and_go_does_no_harm) {
  ScheduledSteal steal({seconds(5), {seconds(5)}, {{1, 0, seconds(5)}}}, std::vector<Nanos>{seconds(1)});
  Lost lost;
  steal.settle({seconds(4), {seconds(4), seconds(1), seconds(1)}, {{1, 0, seconds(4)}, {1, 9, seconds(4)}}},
               std::vector<Nanos>{Nanos(0), seconds(1)}, lost);
  EXPECT_EQ(lost[1], Nanos(0));
}

// One that works on and never leaves its CPU is seen as well as one that comes and goes.
TEST(TurnsReader, knows_who_was_on_which_cpu) {
  auto reader = TurnsReader::make();
  if (!reader) GTEST_SKIP() << reader.error().what;
  cpu_set_t before, one;
  ASSERT_EQ(::sched_getaffinity(0, sizeof(before), &before), 0);
  int cpu = 0;
  while (!CPU_ISSET(cpu, &before)) ++cpu;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  ASSERT_EQ(::sched_setaffinity(0, sizeof(one), &one), 0);
  ::usleep(1000);  // so that it has left a CPU once
  const auto here = [&] {
    Nanos ran;
    for (const ThreadTurns& turns : reader->read().threads) {
      if (turns.tid != ::gettid()) continue;
      if (static_cast<int>(turns.cpu) == cpu) ran += turns.ran;
    }
    return ran;
  };
  const Nanos first = here(), cpu_first = clock_now(CLOCK_THREAD_CPUTIME_ID), began = monotonic_now();
  while (clock_now(CLOCK_THREAD_CPUTIME_ID) - cpu_first < millis(50)) {
  }
  ::usleep(1000);
  while (clock_now(CLOCK_THREAD_CPUTIME_ID) - cpu_first < millis(100)) {
  }
  const Nanos cpu_used = clock_now(CLOCK_THREAD_CPUTIME_ID) - cpu_first, ran = here() - first;
  // Stolen time and interrupts are in there, so it may be more; but never more than there was time.
  EXPECT_GE(ran.count, cpu_used.count * 98 / 100);
  EXPECT_LE(ran, monotonic_now() - began);
  EXPECT_EQ(reader->missed(), Nanos(0));
  reader->forget_all_but({1});
  ::sched_setaffinity(0, sizeof(before), &before);
}

// Who borrows gets his own turns, once he is known to be himself.
TEST(TurnLoan, tells_of_the_borrower_once_it_is_known_who_he_is) {
  auto loan = linux::TurnLoan::make(::getpid(), ::getuid());
  if (!loan) GTEST_SKIP() << loan.error().what;
  std::vector<unique_fd> descriptors;
  for (const int each : loan->descriptors()) descriptors.emplace_back(::dup(each));
  auto parts = linux::borrow_turn_parts(std::move(descriptors));
  ASSERT_TRUE(parts.ok());
  EXPECT_FALSE(parts->identities);
  auto reader = TurnsReader::of(std::move(*parts));
  ASSERT_TRUE(reader.ok());
  ::usleep(1000);
  EXPECT_TRUE(reader->read().threads.empty()) << "nobody has been trusted yet";
  for (int i = 0; i < 1000 && !loan->is_trusted(); ++i) {
    ::usleep(1000);
    ASSERT_TRUE(loan->look().ok());
  }
  ASSERT_TRUE(loan->is_trusted());
  ::usleep(1000);
  ::usleep(1000);
  const CpuTurns seen = reader->read();
  EXPECT_TRUE(std::any_of(seen.threads.begin(), seen.threads.end(),
                          [](const ThreadTurns& turns) { return turns.tid == ::gettid() && turns.ran.count > 0; }));
  EXPECT_FALSE(linux::borrow_turn_parts({}).ok());
}

}  // namespace
}  // namespace tarsier::agent
