#include "analysis/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/engine_account.h"
#include "analysis/model_maker.h"
#include "analysis/wording.h"

namespace tarsier::analysis {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// 10 s, 2 CPUs: 6 s in a, 2 s in b, 2 s of GC.
void fill(ModelMaker& maker) {
  const ThreadIndex main = maker.thread("main");
  const ThreadIndex worker = maker.thread("worker");
  for (int i = 0; i < 6000; ++i) maker.sample(main, "main;a", 1'000'000);
  for (int i = 0; i < 2000; ++i) maker.sample(worker, "run;b", 1'000'000);
  maker.model.unsampled_cpu = {{ThreadKind::kGc, seconds(2)}};
  maker.model.cpus = 2;
  maker.model.jvm = "17.0.15+6";
  maker.model.pid = 4711;
  maker.model.engines.push_back({.name = "agct",
                                 .mechanism = "perf",
                                 .why = "",
                                 .interval = millis(1),
                                 .taken = 8010,
                                 .written = 8000,
                                 .dropped = {{"ring full", 10}}});
  maker.model.overhead_app = millis(50);
  maker.model.overhead_background = millis(30);
}

TEST(Verdict, tells_a_known_recording_in_five_sentences) {
  ModelMaker maker;
  fill(maker);
  EXPECT_EQ(verdict(maker.model),
            (std::vector<std::string>{
                "Recorded 10.0 s of JVM 17.0.15+6 (pid 4711): samples for 10.0 s of CPU time, 1.00 of 2 CPUs.",
                "Hottest method: a with 60.0 % of the CPU time (95 % sure: 59.2 to 60.7 %).",
                "Hottest thread: main with 6.00 s of CPU time (60.0 %).",
                "Threads that are not sampled used 2.00 s (20.0 % of the CPU time): [GC] 2.00 s.",
                "Sampling by agct (perf) every 1ms: 8,010 samples taken, 8,000 written, 10 dropped (ring full 10); "
                "0.0 % without a stack; own cost 50 ms in the application's threads and 30 ms in the background "
                "(0.8 %).",
            }));
}

TEST(Verdict, says_that_engines_which_stop_threads_are_biased) {
  ModelMaker maker;
  fill(maker);
  EXPECT_THAT(verdict(maker.model), Not(Contains(HasSubstr("biased"))));
  maker.model.engines.front().name = "handshake";
  EXPECT_THAT(verdict(maker.model), Contains(AllOf(HasSubstr("handshake is biased"), Not(HasSubstr("all threads")))));
  maker.model.engines.front().name = "safepoint";
  EXPECT_THAT(verdict(maker.model), Contains(AllOf(HasSubstr("safepoint is biased"), HasSubstr("all threads"))));
}

TEST(Verdict, a_recording_without_samples_still_has_one) {
  const Model model;
  EXPECT_THAT(verdict(model), Contains(StartsWith("No CPU samples")));
}

TEST(Verdict, warns_of_what_makes_it_doubtful) {
  ModelMaker maker;
  const ThreadIndex main = maker.thread("main");
  for (int i = 0; i < 50; ++i) maker.sample(main, "main;a", 1);
  for (int i = 0; i < 40; ++i) maker.sample(main, "[failed: unwalkable]", 1);
  maker.model.samples.push_back({.thread = main, .stack = maker.stack("main;a"), .weight = 50, .imprecise = true});
  maker.model.damaged = true;
  maker.model.problems = {"chunk 2 at byte 100: cut", "chunk 3"};
  maker.model.engines.push_back({.name = "agct",
                                 .mechanism = "perf",
                                 .why = "",
                                 .interval = {},
                                 .taken = 100,
                                 .written = 91,
                                 .dropped = {{kInFlight, 9}}});
  const auto lines = verdict(maker.model);
  EXPECT_THAT(lines, Contains(AllOf(StartsWith("Warning: "), HasSubstr("few samples (91)"))));
  EXPECT_THAT(
      lines, Contains(AllOf(StartsWith("Warning: "), HasSubstr("damaged"), HasSubstr("chunk 2"), HasSubstr("1 more"))));
  EXPECT_THAT(lines, Contains(AllOf(StartsWith("Warning: "), HasSubstr("unwalkable"))));
  EXPECT_THAT(lines, Contains(AllOf(StartsWith("Warning: "), HasSubstr("imprecisely"))));
  EXPECT_THAT(lines, Contains(AllOf(StartsWith("Warning: "), HasSubstr("9 samples had been taken"))));
  EXPECT_THAT(lines, Contains(StartsWith("Hottest method: a")));
}

TEST(Verdict, waits_that_were_left_out_are_not_lost) {
  ModelMaker maker;
  fill(maker);
  maker.model.engines.push_back({.name = "waits",
                                 .mechanism = "ebpf",
                                 .why = "",
                                 .interval = micros(100),
                                 .taken = 1000,
                                 .written = 250,
                                 .dropped = {{kLeftOut, 745}, {"ring full", 5}}});
  EXPECT_THAT(verdict(maker.model), Contains(StartsWith("Warning: 74.5 % of the waits were left out by chance")));
  EXPECT_THAT(verdict(maker.model), Not(Contains(HasSubstr("were dropped"))));
  maker.model.engines.back().dropped = {{kLeftOut, 700}, {"ring full", 50}};
  EXPECT_THAT(verdict(maker.model), Contains(HasSubstr("5.0 % of the samples of waits were dropped")));
}

TEST(Verdict, threads_that_wait_all_the_time_do_not_say_where_waiting_is_done) {
  ModelMaker maker;
  fill(maker);
  maker.model.wait_kinds = {"parked", "socket"};
  const auto wait = [&](std::string_view stack, uint8_t kind, int64_t ms, bool ongoing) {
    maker.model.others[static_cast<size_t>(Profile::kWaits)].push_back(
        {.thread = ThreadIndex(0), .stack = maker.stack(stack), .weight = ms * 1'000'000});
    WaitInfo& info = maker.model.waits.emplace_back();
    info.kind = kind;
    info.ongoing = ongoing;
  };
  wait("idle;take", 0, 9000, true);
  EXPECT_THAT(verdict(maker.model),
              Contains(StartsWith("Waited: 9.00 s in 1 waits, most of the time in take (100.0 %")));
  wait("run;query;read", 1, 300, false);
  wait("run;lock", 0, 100, false);
  EXPECT_THAT(verdict(maker.model),
              Contains("Waited: 9.40 s in 3 waits, 1 of them not over (9.00 s); of the others most of the time in read "
                       "(75.0 %, socket; report --view waits shows where)."));
}

TEST(Verdict, says_when_samples_and_kernel_disagree) {
  ModelMaker maker;
  fill(maker);
  maker.model.threads[0].cpu = seconds(8);
  maker.model.threads[1].cpu = seconds(2);
  EXPECT_THAT(verdict(maker.model), Contains(HasSubstr("stand for 8.00 s, the kernel accounts for 10.0 s")));
  maker.model.threads[0].cpu = millis(6100);
  EXPECT_THAT(verdict(maker.model), Not(Contains(HasSubstr("stand for"))));
}

TEST(Account, what_was_taken_and_not_written_was_in_flight) {
  Engine engine;
  engine.taken = 100;
  engine.written = 90;
  engine.dropped = {{"ring full", 3}};
  EXPECT_EQ(settle_account(engine, 90), "");
  EXPECT_EQ(engine.dropped, (std::map<std::string, uint64_t>{{"in flight", 7}, {"ring full", 3}}));
}

TEST(Account, a_settled_one_stays_as_it_is) {
  Engine engine;
  engine.taken = 100;
  engine.written = 97;
  engine.dropped = {{"ring full", 3}};
  EXPECT_EQ(settle_account(engine, std::nullopt), "");
  EXPECT_EQ(engine.taken, 100U);
  EXPECT_EQ(engine.dropped.size(), 1U);
}

TEST(Account, samples_after_the_last_account_were_those_in_flight) {
  Engine engine;
  engine.taken = 100;
  engine.written = 90;
  EXPECT_EQ(settle_account(engine, 98), "");
  EXPECT_EQ(engine.taken, 100U);
  EXPECT_EQ(engine.written, 98U);
  EXPECT_EQ(engine.dropped.at(kInFlight), 2U);
}

TEST(Account, samples_lost_with_the_file_are_not_called_written) {
  Engine engine;
  engine.taken = engine.written = 100;
  EXPECT_EQ(settle_account(engine, 40), "");
  EXPECT_EQ(engine.written, 40U);
  EXPECT_EQ(engine.dropped, (std::map<std::string, uint64_t>{{kNotInFile, 60}}));
}

TEST(Account, an_impossible_one_is_reported) {
  Engine engine;
  engine.name = "agct";
  engine.taken = 5;
  engine.written = 10;
  EXPECT_THAT(settle_account(engine, std::nullopt), HasSubstr("agct"));
  EXPECT_EQ(engine.taken, 10U);
}

TEST(Wording, numbers_are_short_and_readable) {
  EXPECT_EQ(words_of_time(Nanos(0)), "0 s");
  EXPECT_EQ(words_of_time(micros(35)), "35 us");
  EXPECT_EQ(words_of_time(millis(350)), "350 ms");
  EXPECT_EQ(words_of_time(millis(12'449)), "12.4 s");
  EXPECT_EQ(words_of_time(seconds(750)), "12 min 30 s");
  EXPECT_EQ(words_of_time(seconds(11'100)), "3 h 5 min");
  EXPECT_EQ(words_of_share(0.3414), "34.1 %");
  EXPECT_EQ(words_of_share(0.0001), "<0.1 %");
  EXPECT_EQ(words_of_share(0), "0.0 %");
  EXPECT_EQ(words_of_count(999), "999");
  EXPECT_EQ(words_of_count(1'234'567), "1,234,567");
}

}  // namespace
}  // namespace tarsier::analysis
