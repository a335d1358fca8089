#include "analysis/samples.h"

#include <gtest/gtest.h>

namespace tarsier::analysis {
namespace {

void expect_same(const Sample& a, const Sample& b) {
  EXPECT_EQ(a.time_ns, b.time_ns);
  EXPECT_EQ(a.thread, b.thread);
  EXPECT_EQ(a.stack, b.stack);
  EXPECT_EQ(a.weight, b.weight);
  EXPECT_EQ(a.imprecise, b.imprecise);
  EXPECT_EQ(a.failed, b.failed);
  EXPECT_EQ(a.truncated, b.truncated);
}

TEST(Samples, hands_out_what_was_put_in_whatever_the_values) {
  const std::vector<Sample> values = {
      {.time_ns = 1'700'000'000'000'000'000, .thread = ThreadIndex(7), .stack = StackIndex(9), .weight = 1'000'000},
      {.time_ns = 1'700'000'000'000'000'000 - 5, .weight = 0, .imprecise = true},
      {.time_ns = INT64_MIN, .thread = ThreadIndex(kMaxThreads - 1), .weight = INT64_MAX, .failed = true},
      {.time_ns = INT64_MAX, .stack = StackIndex(UINT32_MAX), .weight = UINT32_MAX, .truncated = true},
      {.time_ns = 3, .weight = UINT32_MAX - 1, .imprecise = true, .failed = true, .truncated = true},
  };
  Samples samples;
  for (const Sample& value : values) samples.push_back(value);
  ASSERT_EQ(samples.size(), values.size());
  for (size_t i = 0; i < values.size(); ++i) expect_same(samples[i], values[i]);
  size_t i = 0;
  for (const Sample& sample : samples) expect_same(sample, values[i++]);
  EXPECT_EQ(i, values.size());
}

TEST(Samples, keep_their_times_over_blocks_and_long_pauses) {
  Samples samples;
  constexpr int64_t kCount = 200'000;                                  // several blocks
  const auto time = [](int64_t i) { return 1'000 + i * 40'000'000; };  // a new span every 53 samples
  for (int64_t i = 0; i < kCount; ++i) samples.push_back({.time_ns = time(i), .weight = i});
  int64_t i = 0;
  for (const Sample& sample : samples) {
    ASSERT_EQ(sample.time_ns, time(i));
    ASSERT_EQ(sample.weight, i);
    ++i;
  }
  EXPECT_EQ(i, kCount);
  for (const int64_t at : {int64_t{0}, int64_t{52}, int64_t{53}, int64_t{65'535}, int64_t{65'536}, kCount - 1}) {
    EXPECT_EQ(samples[static_cast<size_t>(at)].time_ns, time(at)) << at;
  }
}

TEST(Samples, weights_can_be_set_later) {
  Samples samples{{.weight = 1}, {.weight = 2}};
  samples.set_weight(0, int64_t{1} << 40);
  samples.set_weight(1, 5);
  EXPECT_EQ(samples[0].weight, int64_t{1} << 40);
  EXPECT_EQ(samples[1].weight, 5);
}

TEST(Samples, an_empty_one_has_nothing_to_iterate) {
  const Samples samples;
  EXPECT_TRUE(samples.empty());
  EXPECT_TRUE(samples.begin() == samples.end());
}

}  // namespace
}  // namespace tarsier::analysis
