#include "base/sigsafe/number_set.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace tarsier {
namespace {

TEST(NumberSet, finds_what_was_added) {
  std::vector<NumberSet::Slot> slots(64);
  NumberSet set(slots.data(), slots.size());
  EXPECT_EQ(set.find(7), 0U);
  EXPECT_TRUE(set.add(7, 1));
  EXPECT_FALSE(set.add(7, 2));  // the first one holds
  EXPECT_EQ(set.find(7), 1U);
  EXPECT_EQ(set.find(8), 0U);
  set.clear();
  EXPECT_EQ(set.find(7), 0U);
  EXPECT_TRUE(set.add(7, 3));
  EXPECT_EQ(set.find(7), 3U);
}

TEST(NumberSet, takes_no_more_than_it_has_room_for) {
  std::vector<NumberSet::Slot> slots(16);
  NumberSet set(slots.data(), slots.size());
  uint32_t added = 0;
  for (uint32_t key = 1; key <= 100; ++key) added += set.add(key * 1'000'003, key) ? 1 : 0;
  EXPECT_EQ(added, 16U);
  for (uint32_t key = 1; key <= 100; ++key) {
    const uint32_t found = set.find(key * 1'000'003);
    EXPECT_TRUE(found == key || found == 0);
  }
}

// Numbers are made from their keys, so a wrong one is seen at once, also while the set is emptied.
TEST(NumberSet, never_answers_with_the_number_of_another_key) {
  std::vector<NumberSet::Slot> slots(256);
  NumberSet set(slots.data(), slots.size());
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> wrong{0}, right{0};
  const auto work = [&](uint64_t seed) {
    while (!stop.load(std::memory_order_relaxed)) {
      seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
      const uint64_t key = (seed >> 33) % 1000 + 1;
      const uint32_t found = set.find(key);
      if (found == 0) {
        (void)set.add(key, static_cast<uint32_t>(key * 3));
      } else {
        (found == key * 3 ? right : wrong).fetch_add(1, std::memory_order_relaxed);
      }
    }
  };
  std::vector<std::thread> threads;
  for (uint64_t i = 1; i <= 3; ++i) threads.emplace_back(work, i);
  for (int i = 0; i < 300; ++i) {
    set.clear();
    std::this_thread::yield();
  }
  while (right.load(std::memory_order_relaxed) == 0) std::this_thread::yield();
  stop.store(true);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0U);
}

}  // namespace
}  // namespace tarsier
