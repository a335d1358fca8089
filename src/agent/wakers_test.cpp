#include "agent/engines/wakers.h"

#include <gtest/gtest.h>

#include <vector>

namespace tarsier::agent {
namespace {

class WakersJoinTest : public testing::Test {
 protected:
  static Waker waker(uint64_t since, uint32_t serial = 1, bool has_stack = true) {
    Waker made;
    made.since = since;
    made.by = WokenBy::kThread;
    made.serial = serial;
    made.has_stack = has_stack;
    return made;
  }
  std::vector<uint32_t> forgotten;
  Wakers wakers{[this](uint32_t woken) { forgotten.push_back(woken); }};
};

TEST_F(WakersJoinTest, a_wait_finds_its_waker_once) {
  wakers.add(7, waker(100, 1));
  wakers.add(8, waker(100, 2));
  const auto first = wakers.take(7, 100);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->serial, 1u);
  EXPECT_FALSE(wakers.take(7, 100));
  EXPECT_EQ(wakers.take(8, 100)->serial, 2u);
  EXPECT_TRUE(forgotten.empty()) << "whoever has taken it uses the stack";
  EXPECT_EQ(wakers.without_wait(), 0u);
  EXPECT_EQ(wakers.counts()[static_cast<size_t>(WokenBy::kThread)], 2u);
}

TEST_F(WakersJoinTest, a_wait_whose_waker_was_lost_gets_nobody_elses) {
  EXPECT_FALSE(wakers.take(7, 100));
  wakers.add(7, waker(200));
  EXPECT_FALSE(wakers.take(7, 300)) << "that one's own was lost, this is of an earlier wait";
  EXPECT_EQ(wakers.without_wait(), 1u);
  EXPECT_EQ(forgotten, std::vector<uint32_t>{7});
  EXPECT_EQ(wakers.size(), 0u);
}

TEST_F(WakersJoinTest, a_waker_whose_wait_was_lost_gives_way_to_the_next_one) {
  wakers.add(7, waker(100, 1));
  wakers.add(7, waker(200, 2));
  EXPECT_EQ(wakers.without_wait(), 1u);
  EXPECT_TRUE(forgotten.empty()) << "the stack that is kept is the second one's";
  EXPECT_EQ(wakers.take(7, 200)->serial, 2u);
  wakers.add(7, waker(300, 1));
  wakers.add(7, waker(400, 2, false));
  EXPECT_EQ(forgotten, std::vector<uint32_t>{7});
}

TEST_F(WakersJoinTest, there_are_never_more_than_the_most) {
  for (uint32_t i = 0; i < Wakers::kMost + 10; ++i) wakers.add(i, waker(100));
  EXPECT_EQ(wakers.size(), Wakers::kMost);
  EXPECT_EQ(wakers.without_wait(), 10u);
  EXPECT_EQ(forgotten.size(), 10u);
  wakers.thread_ended(5);
  wakers.thread_ended(5);
  EXPECT_EQ(wakers.size(), Wakers::kMost - 1);
  EXPECT_EQ(forgotten.size(), 11u);
}

TEST_F(WakersJoinTest, every_way_to_be_woken_has_its_name) {
  for (size_t i = 0; i < static_cast<size_t>(WokenBy::kCount); ++i) EXPECT_FALSE(name_of(WokenBy(i)).empty());
  EXPECT_EQ(name_of(WokenBy::kInterrupt), "interrupt");
}

}  // namespace
}  // namespace tarsier::agent
