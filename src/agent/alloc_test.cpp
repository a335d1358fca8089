#include <gtest/gtest.h>

#include <random>

#include "agent/engines/alloc_draws.h"
#include "agent/engines/alloc_weight.h"

namespace tarsier::agent {
namespace {

constexpr int64_t kInterval = 512 << 10;

int64_t weight(int64_t size, int64_t interval) {
  return alloc_weight(size, alloc_probability(size, interval), interval);
}

TEST(AllocWeight, of_small_objects_is_the_interval_and_of_large_ones_their_size) {
  EXPECT_NEAR(static_cast<double>(weight(16, kInterval)), kInterval, 16);
  EXPECT_NEAR(static_cast<double>(weight(64 << 20, kInterval)), 64 << 20, 1);
  EXPECT_EQ(weight(100, 0), 100);  // every object is sampled
}

// The JVM's sampler, as it should be: exponential gaps of bytes, anew after each sample.
TEST(AllocWeight, sums_are_unbiased_whatever_the_sizes_and_the_interval_that_the_jvm_draws_with) {
  std::mt19937_64 random(1);
  for (const int64_t drawn_with : {kInterval, kInterval / 16, 4 * kInterval}) {
    std::exponential_distribution<double> gap(1.0 / static_cast<double>(drawn_with));
    std::uniform_real_distribution<double> uniform;
    const int64_t sizes[] = {16, 1000, 100'000, 1 << 20, 4 << 20};
    double truth[5] = {}, estimate[5] = {};
    double left = gap(random);
    for (int round = 0; round < 400'000; ++round) {
      const auto which = static_cast<size_t>(round % 100 < 96 ? 0 : round % 100 - 95);
      const int64_t size = sizes[which] * (which == 0 ? 64 : 1);  // 64 small ones at once, to be quick
      truth[which] += static_cast<double>(size);
      left -= static_cast<double>(size);
      if (left > 0) continue;
      left = gap(random);
      const double hit = alloc_probability(size, drawn_with);
      if (uniform(random) >= alloc_kept_share(size, hit, kInterval)) continue;
      estimate[which] += static_cast<double>(alloc_weight(size, hit, kInterval));
    }
    for (size_t i = 1; i < 5; ++i)
      EXPECT_NEAR(estimate[i] / truth[i], 1, i == 1 ? 0.6 : 0.12) << i << " " << drawn_with;
  }
}

// The sampler of 11 and 12, which takes a sampled object's size from the next gap if that is longer.
TEST(AllocWeight, sums_are_unbiased_also_where_gaps_depend_on_the_last_object) {
  std::mt19937_64 random(1);
  constexpr int64_t kWanted = 32 << 10;
  for (const int64_t drawn_with : {kWanted / 16, kWanted, 2 * kWanted}) {
    std::exponential_distribution<double> draw(1.0 / static_cast<double>(drawn_with));
    std::uniform_real_distribution<double> uniform;
    const int64_t sizes[] = {56, 1024, 20'480, 100'000};
    const int runs[] = {3500, 200, 20, 4};
    double truth[4] = {}, estimate[4] = {}, uncorrected[4] = {};
    double left = draw(random);
    int64_t since = 0, before = 0;
    for (int round = 0; round < 2000; ++round) {
      for (size_t which = 0; which < 4; ++which) {
        const int64_t size = sizes[which];
        for (int i = 0; i < runs[which]; ++i) {
          truth[which] += static_cast<double>(size);
          left -= static_cast<double>(size);
          if (left > 0) {
            since += size;
            continue;
          }
          const double hit = alloc_probability_after(size, drawn_with, since, before);
          left = draw(random);
          if (left > static_cast<double>(size)) left -= static_cast<double>(size);
          since = 0;
          before = size;
          uncorrected[which] += static_cast<double>(weight(size, drawn_with));
          if (uniform(random) >= alloc_kept_share(size, hit, kWanted)) continue;
          estimate[which] += static_cast<double>(alloc_weight(size, hit, kWanted));
        }
      }
    }
    for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(estimate[i] / truth[i], 1, 0.04) << sizes[i] << " " << drawn_with;
    if (drawn_with < kWanted) {
      EXPECT_GT(uncorrected[1] / truth[1], 1.25) << "or there is nothing to correct";
    }
  }
}

TEST(AllocWeight, far_from_the_last_object_and_without_one_a_gap_is_a_usual_one) {
  EXPECT_EQ(alloc_probability_after(100, 1000, 50, 0), alloc_probability(100, 1000));
  EXPECT_NEAR(alloc_probability_after(100, 1000, 5000, 300), alloc_probability(100, 1000), 1e-9);
  EXPECT_EQ(alloc_probability_after(100, 1000, 1'000'000'000, 300), alloc_probability(100, 1000));
  EXPECT_EQ(alloc_probability_after(100, 1000, -8, 300), alloc_probability(100, 1000));
  EXPECT_EQ(alloc_probability_after(100, 0, 0, 300), 1);
  EXPECT_EQ(alloc_probability_after(1 << 30, 1000, 0, 100), 1);
  EXPECT_GT(alloc_probability_after(100, 1000, 0, 300), 1.7 * alloc_probability(100, 1000));
}

TEST(AllocDraws, a_jvm_that_counts_right_draws_as_wanted) {
  AllocDraws draws(kInterval, 1000, 7, false);
  EXPECT_EQ(draws.current(), kInterval);
  for (int i = 0; i < 1000; ++i) draws.saw(1 << 20, kInterval);
  EXPECT_FALSE(draws.adapt(9));
}

TEST(AllocDraws, a_jvm_that_miscounts_draws_finer_while_large_objects_matter) {
  AllocDraws draws(kInterval, kInterval, 7, true);
  EXPECT_EQ(draws.current(), kInterval / 16);
  EXPECT_FALSE(draws.adapt(7));  // too little is known yet
  for (int i = 0; i < 5000; ++i) draws.saw(100, draws.current());
  EXPECT_TRUE(draws.adapt(20));
  EXPECT_EQ(draws.current(), kInterval);
  for (int i = 0; i < 300; ++i) draws.saw(100'000, draws.current());
  EXPECT_TRUE(draws.adapt(30));
  EXPECT_EQ(draws.current(), kInterval / 16);
  // A thread's first sample was drawn with what was in force when it was created.
  EXPECT_EQ(draws.first_of(7), kInterval);
  EXPECT_EQ(draws.first_of(20), kInterval / 16);
  EXPECT_EQ(draws.first_of(25), kInterval);
  EXPECT_EQ(draws.first_of(31), kInterval / 16);
  EXPECT_EQ(draws.first_of(0), kInterval / 16);
}

TEST(AllocDraws, an_undecided_program_ends_with_the_finer_interval) {
  AllocDraws draws(kInterval, kInterval, 0, true);
  int changes = 0;
  for (uint32_t round = 1; round < 100; ++round) {
    for (int i = 0; i < 5000; ++i) draws.saw(round % 2 == 1 ? 100 : 100'000, draws.current());
    changes += draws.adapt(round) ? 1 : 0;
  }
  EXPECT_LT(changes, 8);
  EXPECT_EQ(draws.current(), kInterval / 16);
}

}  // namespace
}  // namespace tarsier::agent
