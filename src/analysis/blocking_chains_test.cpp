#include "analysis/blocking_chains.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "analysis/lock_trace.h"

namespace tarsier::analysis {
namespace {

using ::testing::ElementsAre;

class BlockingChainsTest : public ::testing::Test {
 protected:
  LockTrace trace;
  ThreadIndex a = trace.thread("A"), b = trace.thread("B"), c = trace.thread("C"), d = trace.thread("D");
  LockIndex first = trace.lock("p.First", 1), second = trace.lock("p.Second", 2), third = trace.lock("p.Third", 3);
  MonitorPeriod of_first = trace.period(first, 1), of_second = trace.period(second, 1),
                of_third = trace.period(third, 1);

  // "caused passed-on direct longest method lock": of each cause.
  std::vector<std::string> causes(const Selection& selection = {}) const {
    const LockCode code(trace.model);
    const AspectKeys keys(trace.model, code, label_methods(trace.model, false));
    const BlockedTimes times = blocked_times(trace.model, code, selection);
    const BlockingChains chains = blocking_chains(times, selection, keys);
    std::vector<std::string> lines;
    int64_t caused = 0, passed_on = 0;
    const auto name = [&](const BlockingCause& cause) {
      return (cause.cycle ? "[cycle] " : "") + keys.label(LockAspect::kOwnerMethod, cause.method) + " " +
             keys.label(LockAspect::kObject, cause.lock.value);
    };
    for (const BlockingCause& cause : chains.causes) {
      std::string line = std::to_string(cause.caused_ns) + " " + std::to_string(cause.passed_on_ns) + " " +
                         std::to_string(cause.direct_ns) + " " + std::to_string(cause.longest) + " " + name(cause);
      int64_t through = 0;
      for (const auto& way : cause.through) {
        line += " < " + std::to_string(way.ns) + " " + name(chains.causes[way.cause]);
        through += way.ns;
      }
      EXPECT_EQ(through, cause.passed_on_ns);
      caused += cause.caused_ns;
      passed_on += cause.passed_on_ns;
      lines.push_back(line);
    }
    EXPECT_EQ(caused, chains.total_ns);
    EXPECT_EQ(passed_on, chains.passed_on_ns);
    return lines;
  }
};

TEST_F(BlockingChainsTest, without_others_in_between_the_direct_owner_is_the_cause) {
  trace.exit(of_first, b, 30, 1, "main;b");
  trace.enter(of_first, a, 10, 32, 2);
  EXPECT_THAT(causes(), ElementsAre("20 0 20 1 b p.First@1", "2 0 2 1 [hand-off] p.First@1"));
}

// A waits for B from 10 to 50; B waits for C from 20 to 40.
TEST_F(BlockingChainsTest, the_time_in_which_the_owner_waits_itself_is_passed_on_to_whom_it_waits_for) {
  trace.exit(of_first, b, 50, 1, "main;b");
  trace.enter(of_first, a, 10, 50, 2);
  trace.exit(of_second, c, 40, 1, "main;c");
  trace.enter(of_second, b, 20, 40, 2);
  // 20 of A's and 20 of B's own.
  EXPECT_THAT(causes(), ElementsAre("40 20 20 2 c p.Second@2 < 20 b p.First@1", "20 0 40 1 b p.First@1"));
}

TEST_F(BlockingChainsTest, three_links_end_at_the_last_one) {
  trace.exit(of_first, b, 50, 1, "main;b");
  trace.enter(of_first, a, 10, 50, 2);
  trace.exit(of_second, c, 50, 1, "main;c");
  trace.enter(of_second, b, 10, 50, 2);
  trace.exit(of_third, d, 50, 1, "main;d");
  trace.enter(of_third, c, 10, 50, 2);
  EXPECT_THAT(causes(), ElementsAre("120 80 40 3 d p.Third@3 < 40 b p.First@1 < 40 c p.Second@2",
                                    "0 0 40 0 b p.First@1", "0 0 40 0 c p.Second@2"));
}

TEST_F(BlockingChainsTest, who_waits_for_something_that_is_no_lock_is_the_cause) {
  trace.exit(of_first, b, 50, 1, "main;b");
  trace.enter(of_first, a, 10, 50, 2);
  trace.park(trace.lock("java.util.concurrent.FutureTask", 9), b, 10, 50, 1, 3, "main;get");
  trace.unpark(c, b, 50, 2, "main;c");
  EXPECT_THAT(causes(), ElementsAre("40 0 40 1 b p.First@1"));
}

TEST_F(BlockingChainsTest, locks_of_both_kinds_make_one_chain) {
  const LockIndex lock = trace.lock("java.util.concurrent.locks.ReentrantLock$NonfairSync", 5);
  trace.exit(of_first, b, 50, 1, "main;b");
  trace.enter(of_first, a, 10, 50, 2);
  trace.park(lock, b, 10, 50, 1, 3);
  trace.unpark(c, b, 45, 2, "main;c");
  EXPECT_THAT(causes(),
              ElementsAre("70 35 35 2 c java.util.concurrent.locks.ReentrantLock$NonfairSync@5 < 35 b p.First@1",
                          "10 5 5 2 [hand-off] java.util.concurrent.locks.ReentrantLock$NonfairSync@5 < 5 b "
                          "p.First@1",
                          "0 0 40 0 b p.First@1"));
}

TEST_F(BlockingChainsTest, who_wait_for_each_other_are_a_cycle) {
  trace.enter(of_first, a, 10, 90, 0).entered = false;
  trace.events().enters.back().previous_owner = b;
  trace.enter(of_second, b, 20, 90, 0).entered = false;
  trace.events().enters.back().previous_owner = a;
  EXPECT_THAT(causes(), ElementsAre("70 70 0 2 [cycle] [no chain] p.First@1 < 70 [no chain] p.Second@2",
                                    "70 70 0 2 [cycle] [no chain] p.Second@2 < 70 [no chain] p.First@1",
                                    "10 0 80 1 [no chain] p.First@1", "0 0 70 0 [no chain] p.Second@2"));
}

TEST_F(BlockingChainsTest, a_selection_says_who_suffers_and_anybody_may_be_the_cause) {
  trace.exit(of_first, b, 50, 1, "main;b");
  trace.enter(of_first, a, 10, 50, 2);
  trace.exit(of_second, c, 40, 1, "main;c");
  trace.enter(of_second, b, 20, 40, 2);
  const auto only_a = Selection::make(trace.model, {.thread_regex = "A"});
  ASSERT_TRUE(only_a.ok());
  EXPECT_THAT(causes(*only_a), ElementsAre("20 0 40 1 b p.First@1", "20 20 0 2 c p.Second@2 < 20 b p.First@1"));
  const auto early = Selection::make(trace.model, {.to = Nanos(30)});
  ASSERT_TRUE(early.ok());
  EXPECT_THAT(causes(*early), ElementsAre("20 10 10 2 c p.Second@2 < 10 b p.First@1", "10 0 20 1 b p.First@1"));
}

TEST_F(BlockingChainsTest, an_owner_known_by_thread_only_is_followed_as_well) {
  trace.enter(of_first, a, 10, 50, 1).previous_owner = b;
  trace.enter(of_second, b, 10, 50, 1).previous_owner = c;
  EXPECT_THAT(causes(), ElementsAre("80 40 40 2 [no chain] p.Second@2 < 40 [no chain] p.First@1",
                                    "0 0 40 0 [no chain] p.First@1"));
}

TEST_F(BlockingChainsTest, of_any_nonsense_what_is_caused_is_what_was_blocked) {
  for (uint32_t seed = 0; seed < 500 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const auto below = [&](int64_t n) { return std::uniform_int_distribution<int64_t>(0, n - 1)(random); };
    LockTrace own;
    std::vector<ThreadIndex> threads;
    for (const char* name : {"A", "B", "C", "D"}) threads.push_back(own.thread(name));
    std::vector<MonitorPeriod> periods;
    for (int i = 0; i < 3; ++i) periods.push_back(own.period(own.lock("p.Lock", i), 1));
    for (int64_t n = below(60); n > 0; --n) {
      const auto thread = threads[static_cast<size_t>(below(4))];
      const auto period = periods[static_cast<size_t>(below(3))];
      const int64_t begin = below(100);
      if (below(2) == 0) {
        own.enter(period, thread, begin, begin + below(50), below(20)).previous_owner =
            threads[static_cast<size_t>(below(4))];
      } else {
        own.exit(period, thread, begin, below(20), below(2) == 0 ? "main;x" : "main;y");
      }
    }
    const LockCode code(own.model);
    const AspectKeys keys(own.model, code, label_methods(own.model, false));
    const BlockedTimes times = blocked_times(own.model, code, {});
    const BlockingChains chains = blocking_chains(times, {}, keys);
    int64_t direct = 0;
    for (const BlockingCause& cause : chains.causes) direct += cause.direct_ns;
    EXPECT_EQ(chains.total_ns, times.total_ns());
    EXPECT_EQ(direct, times.total_ns());
    EXPECT_EQ(chains.not_followed_ns, 0);
  }
}

TEST_F(BlockingChainsTest, short_pieces_that_there_is_no_room_for_are_counted) {
  int64_t all = 0;
  for (int64_t i = 1; i <= 100; ++i) {
    trace.enter(trace.period(first, 10 + i), a, i * 1000, i * 1000 + i, 1);
    all += i;
  }
  const LockCode code(trace.model);
  BlockedTimesBuilder builder(20);
  for_each_contention(trace.model, code, {}, [&](const Contention& contention, std::span<const Piece> pieces) {
    builder.add({}, contention, pieces);
  });
  const BlockedTimes times = std::move(builder).finish();
  EXPECT_LE(times.pieces().size(), 20U);
  int64_t kept = 0, shortest = INT64_MAX;
  for (const BlockedPiece& piece : times.pieces()) {
    kept += piece.end_ns - piece.begin_ns;
    shortest = std::min(shortest, piece.end_ns - piece.begin_ns);
  }
  EXPECT_EQ(kept + times.left_out_ns(), all);
  EXPECT_EQ(times.total_ns(), all);
  EXPECT_GT(shortest, 50);
}

}  // namespace
}  // namespace tarsier::analysis
