#include "analysis/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/model_maker.h"

namespace tarsier::analysis {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// `often` samples of a method in a steady rhythm, for each of the methods, in 10 s.
Model steady(const std::vector<std::pair<std::string, int>>& methods, const std::string& file = "x.jfr") {
  ModelMaker maker;
  const ThreadIndex thread = maker.thread("main");
  for (const auto& [stack, often] : methods) {
    for (int i = 0; i < often; ++i) maker.sample(thread, stack, 1'000'000, seconds(10) * i / often);
  }
  maker.model.file = file;
  return std::move(maker.model);
}

Comparison compared(const std::vector<Model>& models, const CompareOptions& options = {}) {
  auto comparison = compare(models, options);
  EXPECT_TRUE(comparison.ok());
  return comparison.ok() ? *std::move(comparison) : Comparison{};
}

std::vector<std::string> said(const std::vector<Model>& models, const CompareOptions& options = {}) {
  return verdict_of(compared(models, options), models, options);
}

TEST(Comparison, says_what_got_slower_first) {
  const std::vector<Model> models = {steady({{"m;a", 1000}, {"m;b", 1000}, {"m;c", 2000}}),
                                     steady({{"m;a", 1000}, {"m;b", 2000}, {"m;c", 1500}})};
  EXPECT_EQ(said(models)[0],
            "b got slower: 100 ms -> 200 ms of CPU time per second (x2.00), 1 faster, of 3 methods with enough "
            "samples.");
  EXPECT_THAT(said(models)[1], StartsWith("All samples together: 400 ms -> 450 ms of CPU time per second (+12.5 %)"));
  CompareOptions shares;
  shares.changes.per = Per::kShare;
  EXPECT_THAT(said(models, shares)[0], StartsWith("b has more: 25.0 % -> 44.4 % of the CPU time (x1.78), 1 less, of"));
  CompareOptions totals;
  totals.changes.by = RowsBy::kTotal;
  totals.changes.per = Per::kRun;
  EXPECT_THAT(said(models, totals)[0], HasSubstr("got slower: "));
}

TEST(Comparison, says_what_came_and_what_went) {
  const std::vector<Model> models = {steady({{"m;a", 1000}, {"m;old", 300}}), steady({{"m;a", 1000}, {"m;new", 500}})};
  EXPECT_THAT(said(models)[0],
              StartsWith("new got slower: 0 s -> 50 ms of CPU time per second (was not there before)"));
  const Comparison comparison = compared(models);
  EXPECT_EQ(outcome_of(comparison.changes->rows[0], Profile::kCpu, Per::kSecond), "new");
  EXPECT_EQ(outcome_of(comparison.changes->rows[1], Profile::kCpu, Per::kSecond), "gone");
}

TEST(Comparison, of_the_same_says_so) {
  const Model model = steady({{"m;a", 1000}, {"m;rare", 5}});
  const auto lines = said({model, model});
  EXPECT_THAT(lines[0], StartsWith("No significant change"));
  EXPECT_THAT(lines[2], StartsWith("The calling context trees overlap by 100.0 %"));
  EXPECT_EQ(lines.size(), 3u);
  const Model few = steady({{"m;a", 9}});
  EXPECT_THAT(said({few, few})[0], StartsWith("Nothing can be said about changes: no method has 20 samples"));
  EXPECT_THAT(said({few, few}).back(), HasSubstr("has only 9 samples"));
}

TEST(Comparison, warns_of_lengths_that_do_not_fit_the_scale) {
  std::vector<Model> models = {steady({{"m;a", 1000}}), steady({{"m;a", 2000}})};
  models[1].duration = seconds(20);
  EXPECT_THAT(said(models).back(), HasSubstr("--per run"));
  CompareOptions runs;
  runs.changes.per = Per::kRun;
  EXPECT_THAT(said(models, runs).back(), Not(HasSubstr("Warning")));
  models[0].attached = true;
  EXPECT_THAT(said(models).back(), Not(HasSubstr("Warning")));
  EXPECT_THAT(said(models, runs).back(), HasSubstr("--per second"));
}

TEST(Comparison, of_three_tells_how_they_agree) {
  const std::vector<Model> models = {steady({{"a", 500}, {"b", 500}}), steady({{"a", 500}, {"b", 500}}),
                                     steady({{"a", 1000}})};
  const Comparison comparison = compared(models);
  EXPECT_FALSE(comparison.changes.has_value());
  ASSERT_TRUE(comparison.consistency.has_value());
  EXPECT_DOUBLE_EQ(comparison.overlap[0][1], 1);
  EXPECT_DOUBLE_EQ(comparison.overlap[0][2], 0.5);
  // The average: a 2/3, b 1/3.
  EXPECT_NEAR(comparison.overlap[0][3], 0.5 + 1.0 / 3, 1e-12);
  EXPECT_NEAR(comparison.overlap[3][2], 2.0 / 3, 1e-12);
  EXPECT_DOUBLE_EQ(comparison.coverage[2][0], 0.5);
  EXPECT_DOUBLE_EQ(comparison.coverage[0][2], 1);
  EXPECT_DOUBLE_EQ(comparison.consistency->overlap_of_pairs.median, 0.5);
  EXPECT_DOUBLE_EQ(comparison.consistency->overlap_of_pairs.most, 1);
  EXPECT_THAT(said(models)[0], StartsWith("3 recordings: two of them overlap by 50.0 % (median; 50.0 % to 100.0 %)"));
  const auto methods = average_methods(comparison.tree);
  ASSERT_EQ(methods.size(), 2u);
  EXPECT_EQ(comparison.tree.labels[methods[0].label], "a");
  EXPECT_NEAR(methods[0].mean, 2.0 / 3, 1e-12);
  EXPECT_DOUBLE_EQ(methods[1].least, 0);
  EXPECT_DOUBLE_EQ(methods[1].most, 0.5);
}

TEST(Comparison, shows_what_was_not_sampled_without_judging_it) {
  std::vector<Model> models = {steady({{"a", 1000}}), steady({{"a", 1000}})};
  models[0].unsampled_cpu[ThreadKind::kGc] = millis(100);
  models[1].unsampled_cpu[ThreadKind::kGc] = millis(500);
  models[1].unsampled_cpu[ThreadKind::kJit] = millis(20);
  const Comparison comparison = compared(models);
  ASSERT_EQ(comparison.unsampled.size(), 2u);
  EXPECT_EQ(comparison.unsampled[0].name, "[GC]");
  EXPECT_DOUBLE_EQ(comparison.unsampled[0].before, 10e6);
  EXPECT_DOUBLE_EQ(comparison.unsampled[0].after, 50e6);
  EXPECT_DOUBLE_EQ(comparison.unsampled[1].before, 0);
  EXPECT_EQ(comparison.changes->significant, 0u);
}

TEST(Comparison, needs_samples_a_duration_and_a_period) {
  const Model good = steady({{"m", 100}});
  const auto error_of = [&](const Model& other, Per per) {
    const Model models[] = {good, other};
    const Status checked = check_comparable(models, per);
    return checked.ok() ? std::string() : checked.error().what;
  };
  Model timeless = steady({{"m", 100}}, "other.jfr"), empty = timeless, periodless = timeless;
  timeless.duration = Nanos(0);
  empty.samples = Samples();
  periodless.engines.push_back({.name = "jdk.ExecutionSample", .written = 100});
  EXPECT_EQ(error_of(good, Per::kSecond), "");
  EXPECT_THAT(error_of(timeless, Per::kSecond), StartsWith("other.jfr does not tell how long"));
  EXPECT_EQ(error_of(timeless, Per::kRun), "");
  EXPECT_THAT(error_of(empty, Per::kShare), StartsWith("other.jfr has no samples of the CPU time"));
  EXPECT_THAT(error_of(periodless, Per::kRun), HasSubstr("--per share"));
  EXPECT_EQ(error_of(periodless, Per::kShare), "");
}

TEST(Quartiles, lie_between_values_in_proportion) {
  const Quartiles of = quartiles_of({4, 1, 3, 2});
  EXPECT_EQ(of.least, 1);
  EXPECT_EQ(of.first, 1.75);
  EXPECT_EQ(of.median, 2.5);
  EXPECT_EQ(of.third, 3.25);
  EXPECT_EQ(of.most, 4);
  EXPECT_EQ(quartiles_of({7}).third, 7);
}

}  // namespace
}  // namespace tarsier::analysis
