#include "agent/engines/hold_table.h"

#include <gtest/gtest.h>

#include <map>
#include <thread>
#include <vector>

namespace tarsier::agent {
namespace {

using What = HoldTable::Release::What;

TEST(HoldTable, TellsSinceWhenALockIsHeldHoweverOftenItWasAcquired) {
  std::vector<HoldTable::Slot> slots(64);
  HoldTable holds(slots.data(), slots.size());
  EXPECT_TRUE(holds.acquired(7, 1, 100));
  EXPECT_TRUE(holds.acquired(7, 2, 200));
  EXPECT_EQ(holds.released(8, 1).what, What::kNotKnown);
  EXPECT_EQ(holds.released(7, 2).what, What::kStillHeld);
  const auto last = holds.released(7, 1);
  EXPECT_EQ(last.what, What::kOver);
  EXPECT_EQ(last.begin_ns, 100U);
  EXPECT_EQ(holds.released(7, 1).what, What::kNotKnown);
}

TEST(HoldTable, ReleasesNoMoreThanIsHeld) {
  std::vector<HoldTable::Slot> slots(16);
  HoldTable holds(slots.data(), slots.size());
  EXPECT_TRUE(holds.acquired(7, 2, 100));
  EXPECT_EQ(holds.released(7, 5).what, What::kOver);
  EXPECT_EQ(holds.released(7, 1).what, What::kNotKnown);
}

TEST(HoldTable, SaysWhenThereIsNoRoomAndHasItAgainAfterARelease) {
  std::vector<HoldTable::Slot> slots(HoldTable::kBucket);
  HoldTable holds(slots.data(), slots.size());
  for (uint64_t key = 1; key <= HoldTable::kBucket; ++key) EXPECT_TRUE(holds.acquired(key, 1, key));
  EXPECT_FALSE(holds.acquired(99, 1, 1));
  EXPECT_EQ(holds.released(3, 1).begin_ns, 3U);
  EXPECT_TRUE(holds.acquired(99, 1, 5));
  std::map<uint64_t, uint64_t> all;
  holds.for_each([&](uint64_t key, uint64_t begin) { all[key] = begin; });
  EXPECT_EQ(all.size(), HoldTable::kBucket);
  EXPECT_EQ(all[99], 5U);
  EXPECT_EQ(all.count(3), 0U);
}

TEST(HoldTable, KeepsTheHoldsOfManyThreadsApart) {
  std::vector<HoldTable::Slot> slots(256);
  HoldTable holds(slots.data(), slots.size());
  std::vector<std::thread> threads;
  for (uint64_t thread = 1; thread <= 4; ++thread) {
    threads.emplace_back([&holds, thread] {
      for (uint64_t i = 1; i < 20'000; ++i) {
        const uint64_t key = thread << 32 | i % 8;
        EXPECT_TRUE(holds.acquired(key, 1, i));
        const auto over = holds.released(key, 1);
        EXPECT_EQ(over.what, What::kOver);
        EXPECT_EQ(over.begin_ns, i);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace tarsier::agent
