#include "agent/engines/patience.h"

#include <gtest/gtest.h>

namespace tarsier::agent {
namespace {

constexpr size_t kRing = 16 << 20;

// Of a program that fills so many bytes of the ring each millisecond.
Nanos settled(size_t bytes_per_ms) {
  Patience patience;
  for (int i = 0; i < 20; ++i)
    patience.see(bytes_per_ms * static_cast<size_t>(patience.now().count / 1'000'000), kRing);
  return patience.now();
}

TEST(Patience, samples_that_need_little_room_wait_for_50_ms) {
  EXPECT_EQ(settled(0), millis(50));
  EXPECT_EQ(settled(10'000), millis(50));
}

TEST(Patience, an_eighth_of_the_ring_may_wait) {
  const Nanos patience = settled(200'000);
  EXPECT_GE(patience, millis(9));
  EXPECT_LE(patience, millis(12));
}

TEST(Patience, a_ring_that_fills_at_once_is_looked_after_every_other_millisecond) {
  EXPECT_EQ(settled(kRing), millis(2));
}

TEST(Patience, one_late_look_is_made_up_for_soon) {
  Patience patience;
  for (int i = 0; i < 10; ++i) patience.see(0, kRing);
  patience.see(kRing, kRing);
  EXPECT_LE(patience.now(), millis(10));
  for (int i = 0; i < 6; ++i) patience.see(0, kRing);
  EXPECT_EQ(patience.now(), millis(50));
}

}  // namespace
}  // namespace tarsier::agent
