#include "agent/engines/steady_bottom.h"

#include <gtest/gtest.h>

namespace tarsier::agent {
namespace {

constexpr uint64_t kMillisecond = 1'000'000;

TEST(SteadyBottom, is_believed_after_a_quarter_of_a_second_of_cpu_time) {
  SteadyBottom bottom;
  for (int i = 1; i < 250; ++i) EXPECT_FALSE(bottom.seen(0x1000, kMillisecond)) << i;
  EXPECT_EQ(bottom.seen(0x1000, kMillisecond), 0x1000u);
  EXPECT_EQ(bottom.seen(0x1000, kMillisecond), 0x1000u);
  EXPECT_FALSE(bottom.seen(0x2000, kMillisecond)) << "another place";
  EXPECT_FALSE(bottom.seen(0x1000, 249 * kMillisecond)) << "the first one has to prove itself again";
}

TEST(SteadyBottom, needs_longer_each_time_it_was_wrong) {
  SteadyBottom bottom;
  EXPECT_TRUE(bottom.seen(0x1000, 250 * kMillisecond));
  bottom.refute();
  EXPECT_FALSE(bottom.seen(0x1000, 499 * kMillisecond));
  EXPECT_TRUE(bottom.seen(0x1000, kMillisecond));
  for (int i = 0; i < 100; ++i) bottom.refute();
  EXPECT_TRUE(bottom.seen(0x1000, 10'000 * kMillisecond));
}

}  // namespace
}  // namespace tarsier::agent
