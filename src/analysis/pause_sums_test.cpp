#include "analysis/pause_sums.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tarsier::analysis {
namespace {

// 100 s that began at 1,000 s.
Model recording() {
  Model model;
  model.start_ns = seconds(1000).count;
  model.duration = seconds(100);
  return model;
}
int64_t at(int64_t ms) {
  return seconds(1000).count + millis(ms).count;
}
Selection between(const Model& model, int64_t from_s, int64_t to_s) {
  auto selection = Selection::make(model, {.from = seconds(from_s), .to = seconds(to_s)});
  EXPECT_TRUE(selection.ok());
  return *selection;
}

Model with_pauses() {
  Model model = recording();
  model.pauses.names = {"young", "full", "cleanup"};
  model.pauses.all = {{at(1000), millis(10), PauseKind::kCollectionPause, 0},
                      {at(2000), millis(40), PauseKind::kCollectionPause, 1},
                      {at(2000), millis(90), PauseKind::kCollection, 1},
                      {at(3000), millis(5), PauseKind::kSafepoint, 2},
                      {at(4990), millis(20), PauseKind::kCollectionPause, 0}};
  return model;
}

TEST(PauseSums, add_up_pauses_and_safepoints_of_jfr) {
  const PauseSums sums = sum_pauses(with_pauses(), Selection());
  EXPECT_EQ(sums.gc->pauses, 3u);
  EXPECT_EQ(sums.gc->time, millis(70));
  EXPECT_EQ(sums.gc->longest, millis(40));
  EXPECT_EQ(sums.gc->by_name.size(), 2u);
  EXPECT_EQ(sums.gc->by_name[0].name, "full");
  EXPECT_EQ(sums.gc->by_name[1].count, 2u);
  EXPECT_EQ(sums.gc->by_name[1].longest, millis(20));
  EXPECT_EQ(sums.safepoints->count, 1u);
  EXPECT_FALSE(sums.safepoints->time_to_stop);
  EXPECT_EQ(words_of_pauses(sums), "GC: 3 pauses, 70 ms, 0.1 % of the time, longest 40 ms; safepoints: 1, 5.0 ms");
}

TEST(PauseSums, of_a_range_of_time_have_the_parts_that_lie_in_it) {
  const Model model = with_pauses();
  const PauseSums sums = sum_pauses(model, between(model, 2, 5));
  EXPECT_EQ(sums.gc->pauses, 2u);
  EXPECT_EQ(sums.gc->time, millis(50));
  EXPECT_EQ(sums.duration, seconds(3));
  const PauseSums none = sum_pauses(model, between(model, 50, 60));
  EXPECT_EQ(words_of_pauses(none), "GC: no pauses; safepoints: none");
}

TEST(PauseSums, take_the_counters_of_the_jvm_where_there_are_no_single_safepoints) {
  Model model = recording();
  model.pauses.safepoints = {{at(0), seconds(1), 10, millis(100), millis(20)},
                             {at(1000), seconds(1), 4, millis(30), millis(2)}};
  const PauseSums sums = sum_pauses(model, Selection());
  EXPECT_FALSE(sums.gc);
  EXPECT_EQ(sums.safepoints->count, 14u);
  EXPECT_EQ(sums.safepoints->time, millis(130));
  EXPECT_EQ(*sums.safepoints->time_to_stop, millis(22));
  EXPECT_EQ(words_of_pauses(sums), "Safepoints: 14, 130 ms");
}

TEST(PauseSums, of_a_part_of_an_interval_are_that_part_of_its_safepoints) {
  Model model = recording();
  model.pauses.safepoints = {{at(0), seconds(4), 8, millis(100), millis(20)}};
  const PauseSums sums = sum_pauses(model, between(model, 1, 3));
  EXPECT_EQ(sums.safepoints->count, 4u);
  EXPECT_EQ(sums.safepoints->time, millis(50));
  EXPECT_EQ(*sums.safepoints->time_to_stop, millis(10));
}

TEST(PauseSums, tell_no_pauses_from_none_recorded) {
  Model model = recording();
  EXPECT_EQ(words_of_pauses(sum_pauses(model, Selection())), "");
  model.engines.push_back({.name = "pauses", .mechanism = "jvmti"});
  EXPECT_EQ(words_of_pauses(sum_pauses(model, Selection())), "GC: no pauses");
  model.engines.back().mechanism = "none";
  EXPECT_EQ(words_of_pauses(sum_pauses(model, Selection())), "");
}

TEST(PauseSums, of_damaged_files_do_not_overflow) {
  Model model = recording();
  model.pauses.names = {""};
  for (int i = 0; i < 5000; ++i) {
    model.pauses.all.push_back({0, Nanos(int64_t{1} << 53), PauseKind::kCollectionPause, 0});
    model.pauses.safepoints.push_back({0, Nanos(0), uint64_t{1} << 53, Nanos(int64_t{1} << 53), Nanos(0)});
  }
  const PauseSums sums = sum_pauses(model, Selection());
  EXPECT_GT(sums.gc->time.count, 0);
  EXPECT_GT(sums.safepoints->time.count, 0);
}

}  // namespace
}  // namespace tarsier::analysis
