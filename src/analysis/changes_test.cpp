#include "analysis/changes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>

#include "analysis/model_maker.h"

namespace tarsier::analysis {
namespace {

constexpr int64_t kInterval = 1'000'000;  // one sample a millisecond

// Recordings of a made-up program, 10 s each. Every call of run() is another run of it.
class Program {
 public:
  explicit Program(uint32_t seed) : random_(seed) {}

  // Methods and the milliseconds of CPU time that they use in a second, by chance spread over the time.
  Model run(const std::map<std::string, double>& methods, Nanos duration = seconds(10)) {
    ModelMaker maker;
    maker.model.duration = duration;
    const ThreadIndex thread = maker.thread("main");
    for (const auto& [stack, rate] : methods) {
      std::poisson_distribution<int> count(rate * in_seconds(duration));
      for (int i = count(random_); i > 0; --i) maker.sample(thread, stack, kInterval, time_in(duration));
    }
    return std::move(maker.model);
  }

  // One thread that does one of the methods at a time, for a while of random length, `phase` on average.
  Model run_in_phases(const std::vector<std::string>& methods, Nanos phase) {
    ModelMaker maker;
    const ThreadIndex thread = maker.thread("main");
    std::exponential_distribution<double> length(1 / static_cast<double>(phase.count));
    std::uniform_int_distribution<size_t> which(0, methods.size() - 1);
    double until = 0;
    size_t method = 0;
    for (int64_t at = 0; at < maker.model.duration.count; at += kInterval) {
      while (static_cast<double>(at) >= until) {
        until += length(random_);
        method = which(random_);
      }
      maker.sample(thread, methods[method], kInterval, Nanos(at));
    }
    return std::move(maker.model);
  }

 private:
  Nanos time_in(Nanos duration) {
    return Nanos(std::uniform_int_distribution<int64_t>(0, duration.count - 1)(random_));
  }

  std::mt19937 random_;
};

struct Found {
  JointTree tree;
  Changes changes;

  [[nodiscard]] std::string first() const {
    return changes.rows.empty() || !changes.rows[0].significant ? "" : tree.labels[changes.rows[0].row];
  }
  [[nodiscard]] const Change& of(const std::string& method) const {
    for (const Change& change : changes.rows) {
      if (tree.labels[change.row] == method) return change;
    }
    ADD_FAILURE() << method << " is no row";
    return changes.rows[0];
  }
};

Found compared(const Model& a, const Model& b, const ChangeOptions& options = {}) {
  const Model models[] = {a, b};
  Found found{.tree = join_trees(models), .changes = {}};
  found.changes = find_changes(a, b, found.tree, options);
  return found;
}

std::map<std::string, double> many_methods() {
  std::map<std::string, double> methods;
  for (int i = 0; i < 60; ++i) methods["main;work;m" + std::to_string(i)] = 200.0 / (1 + i);
  return methods;
}

TEST(Changes, of_the_same_program_are_noise) {
  for (const Per per : {Per::kSecond, Per::kRun, Per::kShare}) {
    Program program(7);
    int alarms = 0;
    for (int i = 0; i < 20; ++i) {
      const Found found = compared(program.run(many_methods()), program.run(many_methods()), {.per = per});
      alarms += found.changes.significant > 0 ? 1 : 0;
      EXPECT_GT(found.changes.tested, 40u);
    }
    EXPECT_LE(alarms, 1) << "per " << static_cast<int>(per);
  }
}

TEST(Changes, are_called_such_by_chance_as_rarely_as_promised) {
  // Without tolerance, and 5 % allowed: in 200 comparisons at most 10 alarms are expected, and more than 20 hardly
  // ever.
  for (const Per per : {Per::kSecond, Per::kRun, Per::kShare}) {
    Program program(11);
    const std::map<std::string, double> methods = {{"a", 30}, {"b", 20}, {"c", 10}, {"d", 5}};
    int alarms = 0;
    for (int i = 0; i < 200; ++i) {
      const Found found =
          compared(program.run(methods), program.run(methods), {.per = per, .tolerance = 0, .false_alarms = 0.05});
      alarms += found.changes.significant > 0 ? 1 : 0;
    }
    EXPECT_LE(alarms, 20) << "per " << static_cast<int>(per);
    RecordProperty("alarms_per_" + std::to_string(static_cast<int>(per)), alarms);
  }
}

TEST(Changes, that_phases_explain_are_noise) {
  // Phases of a fifth of a second: by counting alone (3,300 samples each) nearly every pair would differ.
  Program program(3);
  int alarms = 0, by_counting_alone = 0;
  for (int i = 0; i < 50; ++i) {
    const Found found = compared(program.run_in_phases({"a", "b", "c"}, millis(200)),
                                 program.run_in_phases({"a", "b", "c"}, millis(200)), {.tolerance = 0});
    alarms += found.changes.significant > 0 ? 1 : 0;
    const Change& a = found.of("a");
    const double samples = static_cast<double>(a.samples_before + a.samples_after);
    by_counting_alone += std::abs(a.difference()) * 10 / kInterval > 2.6 * std::sqrt(samples) ? 1 : 0;
  }
  EXPECT_GE(by_counting_alone, 25);
  EXPECT_LE(alarms, 2);
}

TEST(Changes, name_the_method_that_takes_twice_as_long_first) {
  Program program(5);
  auto slowed = many_methods();
  slowed["main;work;m5"] *= 2;
  for (const Per per : {Per::kSecond, Per::kRun, Per::kShare}) {
    for (int i = 0; i < 5; ++i) {
      const Found found = compared(program.run(many_methods()), program.run(slowed), {.per = per});
      EXPECT_EQ(found.first(), "m5");
      EXPECT_EQ(found.changes.significant, 1u);
      EXPECT_NEAR(found.of("m5").after / found.of("m5").before, 2, 0.5);
    }
  }
}

TEST(Changes, are_found_both_ways_and_with_the_same_certainty) {
  Program program(6);
  auto slowed = many_methods();
  slowed["main;work;m3"] *= 2;
  const Model fast = program.run(many_methods()), slow = program.run(slowed);
  const Change there = compared(fast, slow).of("m3"), back = compared(slow, fast).of("m3");
  EXPECT_TRUE(there.significant && back.significant);
  EXPECT_DOUBLE_EQ(there.difference(), -back.difference());
  EXPECT_DOUBLE_EQ(there.p, back.p);
  EXPECT_GT(there.difference(), there.half_ci95);
}

TEST(Changes, of_methods_that_came_or_went_are_found) {
  Program program(8);
  const Found found = compared(program.run({{"m;a", 50}, {"m;old", 20}}), program.run({{"m;a", 50}, {"m;new", 20}}));
  EXPECT_EQ(found.changes.significant, 2u);
  EXPECT_TRUE(found.of("old").significant && found.of("new").significant);
  EXPECT_EQ(found.of("new").before, 0);
  EXPECT_EQ(found.of("old").samples_after, 0u);
}

TEST(Changes, within_the_tolerance_are_none_however_sure) {
  Program program(9);
  const Model a = program.run({{"m;a", 900}, {"m;b", 100}}, seconds(1000));
  const Model b = program.run({{"m;a", 930}, {"m;b", 100}}, seconds(1000));
  EXPECT_EQ(compared(a, b).first(), "");
  EXPECT_EQ(compared(a, b, {.tolerance = 0.01}).first(), "a");
}

TEST(Changes, per_second_do_not_depend_on_how_long_was_recorded_and_per_run_do) {
  Program program(10);
  const Model shorter = program.run({{"m;a", 300}, {"m;b", 100}});
  const Model longer = program.run({{"m;a", 300}, {"m;b", 100}}, seconds(20));
  EXPECT_EQ(compared(shorter, longer, {.per = Per::kSecond}).changes.significant, 0u);
  EXPECT_EQ(compared(shorter, longer, {.per = Per::kShare}).changes.significant, 0u);
  const Found found = compared(shorter, longer, {.per = Per::kRun});
  EXPECT_EQ(found.first(), "a");
  EXPECT_NEAR(found.of("a").before, 3e9, 3e8);
  EXPECT_TRUE(found.changes.whole.significant);
}

TEST(Changes, see_a_phase_that_got_longer_only_if_phases_are_no_chance) {
  // A job of three parts, one after the other, of which the second takes twice as long in the other run.
  const auto job = [](int64_t second_part_ms) {
    ModelMaker maker;
    const ThreadIndex thread = maker.thread("main");
    int64_t at = 0;
    const auto part = [&](const char* method, int64_t ms) {
      for (int64_t i = 0; i < ms; ++i) maker.sample(thread, method, kInterval, millis(at++));
    };
    part("first", 4000);
    part("second", second_part_ms);
    part("third", 3000);
    maker.model.duration = millis(at);
    return std::move(maker.model);
  };
  const ChangeOptions same_phases = {.per = Per::kRun, .same_phases = true};
  EXPECT_EQ(compared(job(2000), job(4000), same_phases).first(), "second");
  EXPECT_EQ(compared(job(2000), job(4000), same_phases).changes.significant, 1u);
  EXPECT_EQ(compared(job(2000), job(4000), {.per = Per::kRun}).first(), "");
}

TEST(Changes, of_few_samples_are_not_tested) {
  Program program(12);
  ModelMaker a, b;
  for (int i = 0; i < 19; ++i) b.sample(i == 0 ? b.thread("main") : ThreadIndex(0), "m;rare", kInterval);
  for (int i = 0; i < 100; ++i) {
    a.sample(i == 0 ? a.thread("main") : ThreadIndex(0), "m;often", kInterval, millis(i * 100));
    b.sample(ThreadIndex(0), "m;often", kInterval, millis(i * 100));
  }
  const Found found = compared(a.model, b.model);
  EXPECT_FALSE(found.of("rare").tested);
  EXPECT_EQ(found.changes.tested, 1u);
  EXPECT_EQ(found.first(), "");
}

TEST(Changes, of_totals_count_a_recursive_method_once) {
  ModelMaker a, b;
  const ThreadIndex thread = a.thread("main");
  b.thread("main");
  for (int i = 0; i < 1000; ++i) {
    a.sample(thread, "m;f;g;f;leaf", kInterval, millis(i * 10));
    b.sample(thread, i % 2 == 0 ? "m;f;g;f;leaf" : "m;f", kInterval, millis(i * 10));
  }
  const Found totals = compared(a.model, b.model, {.by = RowsBy::kTotal, .per = Per::kRun});
  EXPECT_EQ(totals.of("f").before, 1000.0 * kInterval);
  EXPECT_EQ(totals.of("f").after, 1000.0 * kInterval);
  EXPECT_FALSE(totals.of("f").significant);
  EXPECT_EQ(totals.of("g").after, 500.0 * kInterval);
  EXPECT_TRUE(totals.of("g").significant);
}

TEST(Changes, of_contexts_tell_which_caller_it_was) {
  Program program(13);
  const Found found = compared(program.run({{"m;x;work", 100}, {"m;y;work", 100}}),
                               program.run({{"m;x;work", 100}, {"m;y;work", 200}}), {.by = RowsBy::kContext});
  ASSERT_EQ(found.changes.significant, 1u);
  const uint32_t node = found.changes.rows[0].row;
  EXPECT_EQ(found.tree.name(node), "work");
  EXPECT_EQ(found.tree.name(found.tree.nodes[node].parent), "y");
}

TEST(CorrectedForNumber, is_the_procedure_of_Benjamini_and_Hochberg) {
  // Worked by hand: p * n / rank, from the largest down never rising again.
  const std::vector<double> corrected = corrected_for_number({0.01, 0.04, 0.03, 0.005});
  EXPECT_DOUBLE_EQ(corrected[3], 0.02);
  EXPECT_DOUBLE_EQ(corrected[0], 0.02);
  EXPECT_DOUBLE_EQ(corrected[2], 0.04);
  EXPECT_DOUBLE_EQ(corrected[1], 0.04);
  EXPECT_TRUE(corrected_for_number({}).empty());
}

TEST(BlockVariance, of_equal_slices_is_nothing_and_of_independent_ones_their_sum) {
  Slices equal;
  equal.fill(5);
  EXPECT_EQ(spread_of_window(equal).variance, 0);
  EXPECT_EQ(spread_of_job(equal).variance, 0);
  std::mt19937 random(1);
  std::poisson_distribution<int> count(100);
  double window = 0, run = 0;
  for (int i = 0; i < 200; ++i) {
    Slices slices;
    for (double& slice : slices) slice = count(random);
    window += spread_of_window(slices).variance / 200;
    run += spread_of_job(slices).variance / 200;
  }
  EXPECT_NEAR(run, 6400, 300);
  EXPECT_GT(window, 6400);  // the largest of several estimates
  EXPECT_LT(window, 1.7 * 6400);
}

TEST(BlockVariance, of_one_phase_is_its_height_for_windows_and_its_ends_for_jobs) {
  Slices phase{};
  for (size_t i = 16; i < 32; ++i) phase[i] = 10;
  EXPECT_NEAR(std::sqrt(spread_of_job(phase).variance), 10, 0.1);
  EXPECT_GT(std::sqrt(spread_of_window(phase).variance), 100);
}

}  // namespace
}  // namespace tarsier::analysis
