#include "agent/engines/patience.h"

#include <gtest/gtest.h>

namespace tarsier::agent {
namespace {

constexpr size_t kRing = 16 << 20;

// A program that fills the ring, and a thread that comes by as often as it may, or more often.
struct Program {
  Patience patience;
  Nanos time = seconds(1);

  void run(size_t bytes_per_ms, int rounds, Nanos at_most = seconds(1)) {
    for (int i = 0; i < rounds; ++i) {
      const Nanos waited = std::min(patience.now(), at_most);
      time = time + waited;
      patience.begin(left + bytes_per_ms * static_cast<size_t>(waited.count / 1000) / 1000, kRing, time);
      patience.end(left, time);
    }
  }
  size_t left = 0;
};

Nanos settled(size_t bytes_per_ms) {
  Program program;
  program.run(bytes_per_ms, 20);
  return program.patience.now();
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
  Program program;
  program.run(0, 10);
  program.run(kRing / 50, 1);
  EXPECT_LE(program.patience.now(), millis(10));
  program.run(0, 6);
  EXPECT_EQ(program.patience.now(), millis(50));
}

TEST(Patience, who_comes_by_for_others_learns_how_fast_the_ring_fills_all_the_same) {
  Program program;
  program.run(200'000, 20);
  const Nanos alone = program.patience.now();
  program.run(200'000, 20, millis(5));
  EXPECT_NEAR(program.patience.now().count, alone.count, millis(1).count);
  program.run(200'000, 20, Nanos(100'000));  // far too short to tell anything
  EXPECT_NEAR(program.patience.now().count, alone.count, millis(1).count);
}

TEST(Patience, a_sample_that_is_never_finished_does_not_make_it_hurry) {
  Program program;
  program.left = kRing / 2;
  program.run(1, 20);
  EXPECT_EQ(program.patience.now(), millis(50));
}

}  // namespace
}  // namespace tarsier::agent
