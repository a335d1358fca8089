#include <gtest/gtest.h>

#include <random>

#include "agent/engines/alloc_draws.h"
#include "agent/engines/alloc_weight.h"

namespace tarsier::agent {
namespace {

constexpr int64_t kInterval = 512 << 10;

TEST(AllocWeight, of_small_objects_is_the_interval_and_of_large_ones_their_size) {
  EXPECT_NEAR(static_cast<double>(alloc_weight(16, kInterval, kInterval)), kInterval, 16);
  EXPECT_NEAR(static_cast<double>(alloc_weight(64 << 20, kInterval, kInterval)), 64 << 20, 1);
  EXPECT_EQ(alloc_weight(100, 0, 0), 100);  // every object is sampled
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
      if (uniform(random) >= alloc_kept_share(size, drawn_with, kInterval)) continue;
      estimate[which] += static_cast<double>(alloc_weight(size, drawn_with, kInterval));
    }
    for (size_t i = 1; i < 5; ++i)
      EXPECT_NEAR(estimate[i] / truth[i], 1, i == 1 ? 0.6 : 0.12) << i << " " << drawn_with;
  }
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
