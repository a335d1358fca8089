#include "analysis/selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/model_maker.h"
#include "analysis/quality.h"
#include "analysis/thread_profile.h"

namespace tarsier::analysis {
namespace {

using ::testing::HasSubstr;

TEST(Selection, a_thread_expression_selects_samples_and_unsampled_threads) {
  ModelMaker maker;
  maker.sample(maker.thread("worker-1"), "run", 5);
  maker.sample(maker.thread("main"), "main", 3);
  const ThreadIndex gc = maker.thread("GC worker#0", ThreadKind::kGc, false);
  maker.model.threads[gc.value].cpu = Nanos(11);
  maker.model.unsampled_cpu = {{ThreadKind::kGc, Nanos(11)}};

  const auto workers = Selection::make(maker.model, {.thread_regex = "worker"});
  ASSERT_TRUE(workers.ok());
  EXPECT_EQ(weigh_stacks(maker.model, *workers).weight, 5);
  EXPECT_EQ(unsampled_cpu(maker.model, *workers).at(ThreadKind::kGc), Nanos(11));

  const auto main = Selection::make(maker.model, {.thread_regex = "^main$"});
  ASSERT_TRUE(main.ok());
  EXPECT_EQ(weigh_stacks(maker.model, *main).weight, 3);
  EXPECT_TRUE(unsampled_cpu(maker.model, *main).empty());
}

TEST(Selection, a_time_range_has_its_start_but_not_its_end_and_no_unsampled_time) {
  ModelMaker maker;
  const ThreadIndex main = maker.thread("main");
  maker.sample(main, "a", 1, millis(0));
  maker.sample(main, "a", 10, millis(1000));
  maker.sample(main, "a", 100, millis(1999));
  maker.sample(main, "a", 1000, millis(2000));
  maker.model.unsampled_cpu = {{ThreadKind::kGc, Nanos(11)}};
  const auto part = Selection::make(maker.model, {.thread_regex = "", .from = seconds(1), .to = seconds(2)});
  ASSERT_TRUE(part.ok());
  EXPECT_EQ(weigh_stacks(maker.model, *part).weight, 110);
  EXPECT_TRUE(unsampled_cpu(maker.model, *part).empty());
}

TEST(Selection, a_time_range_has_the_part_of_a_wait_that_is_within) {
  ModelMaker maker;
  const ThreadIndex main = maker.thread("main");
  maker.model.profile = Profile::kWaits;
  maker.sample(main, "before", seconds(1).count, seconds(0));
  maker.sample(main, "into", seconds(3).count, seconds(0));
  maker.sample(main, "around", seconds(9).count, millis(500));
  maker.sample(main, "out_of", seconds(9).count, millis(2500));
  maker.sample(main, "behind", seconds(1).count, seconds(3));
  const auto part = Selection::make(maker.model, {.thread_regex = "", .from = seconds(1), .to = seconds(3)});
  ASSERT_TRUE(part.ok());
  const WeightedStacks weights = weigh_stacks(maker.model, *part);
  EXPECT_EQ(weights.weight, (seconds(2) + seconds(2) + millis(500)).count);
  EXPECT_EQ(weights.samples, 3U);
  EXPECT_EQ(thread_profile(maker.model, *part)[0].sampled, weights.weight);
  EXPECT_EQ(assess_quality(maker.model, *part).weight, weights.weight);

  ASSERT_TRUE(narrow(maker.model, {.from = seconds(1), .to = seconds(3)}));
  EXPECT_EQ(weigh_stacks(maker.model, {}).weight, weights.weight);
  EXPECT_EQ(maker.model.samples[0].time_ns, maker.model.start_ns);
}

TEST(Selection, says_what_is_wrong_with_a_filter) {
  ModelMaker maker;
  maker.thread("main");
  const auto no_regex = Selection::make(maker.model, {.thread_regex = "("});
  ASSERT_FALSE(no_regex.ok());
  EXPECT_EQ(no_regex.error().code, Errc::kUsage);
  const auto no_match = Selection::make(maker.model, {.thread_regex = "worker"});
  ASSERT_FALSE(no_match.ok());
  EXPECT_EQ(no_match.error().code, Errc::kUsage);
  EXPECT_THAT(no_match.error().what, HasSubstr("main"));
  EXPECT_FALSE(Selection::make(maker.model, {.thread_regex = "", .from = seconds(2), .to = seconds(2)}).ok());
  EXPECT_FALSE(Selection::make(maker.model, {.thread_regex = "", .from = seconds(10), .to = {}}).ok());
}

TEST(Selection, a_thread_name_of_a_megabyte_does_not_overflow_the_stack) {
  ModelMaker maker;
  maker.thread(std::string(1 << 20, 'a'));
  EXPECT_TRUE(Selection::make(maker.model, {.thread_regex = "(a|b)*"}).ok());
}

TEST(ThreadProfile, prefers_the_kernels_account_and_drops_idle_threads) {
  ModelMaker maker;
  const ThreadIndex measured = maker.thread("measured");
  maker.sample(measured, "a", 10);
  maker.model.threads[measured.value].cpu = Nanos(12);
  maker.sample(maker.thread("sampled only"), "a", 20);
  maker.thread("idle");
  const auto rows = thread_profile(maker.model, Selection());
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].cpu, Nanos(20));
  EXPECT_FALSE(rows[0].measured);
  EXPECT_EQ(rows[1].cpu, Nanos(12));
  EXPECT_EQ(rows[1].sampled, 10);
  EXPECT_TRUE(rows[1].measured);
}

TEST(Quality, counts_every_sample_once) {
  ModelMaker maker;
  const ThreadIndex main = maker.thread("main");
  maker.sample(main, "main;a;b", 1);
  maker.sample(main, "main;a;c", 1);
  maker.sample(main, "[failed: unwalkable]", 5);
  maker.sample(main, "[failed: unwalkable]", 5);
  maker.sample(main, "[failed: no Java frame]", 5);
  maker.model.samples.push_back(
      {.thread = main, .stack = maker.stack("[deeper];x;y"), .weight = 1, .imprecise = true, .truncated = true});
  maker.model.engines.push_back({.name = "agct", .mechanism = "perf", .why = "", .interval = {}, .written = 6});
  const Quality quality = assess_quality(maker.model, Selection());
  EXPECT_EQ(quality.samples, 6U);
  EXPECT_EQ(quality.complete, 2U);
  EXPECT_EQ(quality.incomplete, 1U);
  EXPECT_EQ(quality.failed, (std::map<std::string, uint64_t>{{"no Java frame", 1}, {"unwalkable", 2}}));
  EXPECT_EQ(quality.imprecise, 1U);
  EXPECT_EQ(quality.failed_weight, 15);
  EXPECT_EQ(quality.by_mechanism, (std::map<std::string, uint64_t>{{"perf", 6}}));
  EXPECT_EQ(quality.edges, 4U);  // main-a, a-b, a-c, x-y
  EXPECT_EQ(quality.edges_checked, 0U);
}

TEST(Quality, an_engine_that_tells_how_it_found_stacks_and_checked_them_is_believed) {
  ModelMaker maker;
  maker.sample(maker.thread("main"), "main;a;b", 1);
  maker.model.engines.push_back({.name = "fragment",
                                 .mechanism = "perf",
                                 .why = "",
                                 .interval = {},
                                 .written = 10,
                                 .counters = {{"started by: anchor", 3},
                                              {"started by: plain", 7},
                                              {"started by: stub", 0},
                                              {"edges: right", 90},
                                              {"edges: wrong", 2},
                                              {"edges: uncheckable", 8}}});
  const Quality quality = assess_quality(maker.model, Selection());
  EXPECT_EQ(quality.by_mechanism, (std::map<std::string, uint64_t>{{"anchor", 3}, {"plain", 7}}));
  EXPECT_EQ(quality.edges, 100U);
  EXPECT_EQ(quality.edges_checked, 92U);
  EXPECT_EQ(quality.bad_edges, 2U);
  EXPECT_FALSE(quality.has_native);
}

TEST(Quality, tells_how_many_native_frames_were_found_if_they_were_looked_for) {
  ModelMaker maker;
  maker.sample(maker.thread("main"), "main;a", 1);
  maker.model.engines.push_back({.name = "fragment",
                                 .mechanism = "perf",
                                 .why = "",
                                 .interval = {},
                                 .written = 10,
                                 .counters = {{"native: samples in native code", 7},
                                              {"native: with all their native frames", 6},
                                              {"native: samples with native code between Java frames", 3},
                                              {"native: with all frames of it", 2}}});
  const Quality quality = assess_quality(maker.model, Selection());
  EXPECT_TRUE(quality.has_native);
  EXPECT_EQ(quality.native, 7U);
  EXPECT_EQ(quality.native_complete, 6U);
  EXPECT_EQ(quality.native_between, 3U);
  EXPECT_EQ(quality.native_between_complete, 2U);
}

TEST(Narrow, leaves_the_selected_samples_and_time) {
  ModelMaker maker;
  const ThreadIndex main = maker.thread("main"), other = maker.thread("other");
  for (int i = 0; i < 10; ++i) maker.sample(i % 2 == 0 ? main : other, "a", 1, seconds(i));
  maker.model.unsampled_cpu[ThreadKind::kGc] = seconds(1);
  const int64_t start = maker.model.start_ns;
  ASSERT_TRUE(narrow(maker.model, {}).ok());
  EXPECT_EQ(maker.model.samples.size(), 10U);
  ASSERT_TRUE(narrow(maker.model, {.thread_regex = "main", .from = seconds(2), .to = seconds(60)}).ok());
  EXPECT_EQ(maker.model.samples.size(), 4U);
  EXPECT_EQ(maker.model.start_ns, start + seconds(2).count);
  EXPECT_EQ(maker.model.duration, seconds(8));
  EXPECT_TRUE(maker.model.unsampled_cpu.empty());
  EXPECT_EQ(narrow(maker.model, {.thread_regex = "nobody"}).error().code, Errc::kUsage);
}

}  // namespace
}  // namespace tarsier::analysis
