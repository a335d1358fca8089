#include "capture/monitor_table.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

namespace tarsier::capture {
namespace {

class MonitorTableTest : public testing::Test {
 protected:
  std::vector<ContendedMonitor> memory{64};
  MonitorTable table{memory.data(), memory.size()};
};

TEST_F(MonitorTableTest, a_generation_lasts_from_the_first_blocked_thread_to_the_last) {
  EXPECT_EQ(table.find(0x1000), nullptr);
  const auto first = table.block(0x1000);
  const auto second = table.block(0x1000);
  EXPECT_TRUE(first.opened);
  EXPECT_FALSE(second.opened);
  EXPECT_EQ(first.generation, second.generation);
  EXPECT_TRUE(first.entry->is_contended());
  MonitorTable::unblock(*first.entry);
  EXPECT_TRUE(first.entry->is_contended());
  MonitorTable::unblock(*first.entry);
  EXPECT_FALSE(first.entry->is_contended());
  const auto third = table.block(0x1000);
  EXPECT_TRUE(third.opened);
  EXPECT_NE(third.generation, first.generation);
}

TEST_F(MonitorTableTest, the_name_of_an_earlier_object_is_not_that_of_the_next) {
  const auto first = table.block(0x1000);
  first.entry->name(first.generation, 5);
  EXPECT_EQ(first.entry->lock(first.generation), 5U);
  MonitorTable::unblock(*first.entry);
  const auto next = table.block(0x1000);
  EXPECT_EQ(next.entry->lock(next.generation), 0U);
}

TEST_F(MonitorTableTest, a_monitor_that_is_waited_for_is_not_contended_until_somebody_is_notified) {
  ContendedMonitor* monitor = table.find_or_add(0x2000);
  ASSERT_NE(monitor, nullptr);
  EXPECT_EQ(table.find_or_add(0x2000), monitor);
  EXPECT_FALSE(monitor->is_contended());
  const auto notified = table.block(0x2000);
  EXPECT_EQ(notified.entry, monitor);
  EXPECT_TRUE(notified.opened);
  EXPECT_TRUE(monitor->is_contended());
}

TEST_F(MonitorTableTest, more_monitors_than_there_is_room_for_are_told_so) {
  size_t refused = 0;
  for (uint64_t i = 1; i <= 100; ++i) refused += table.block(i * 64).entry == nullptr ? 1 : 0;
  EXPECT_GE(refused, 36U);
}

TEST_F(MonitorTableTest, the_order_has_no_gap_and_no_number_twice) {
  constexpr int kThreads = 4, kDraws = 5'000;
  std::vector<std::vector<uint32_t>> drawn(kThreads);
  std::vector<std::thread> threads;
  const auto first = table.block(0x4000);
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kDraws; ++i) {
        const auto blocked = table.block(0x4000);
        drawn[static_cast<size_t>(t)].push_back(blocked.entry->draw(blocked.generation));
        MonitorTable::unblock(*blocked.entry);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<uint32_t> all;
  for (const auto& numbers : drawn) all.insert(numbers.begin(), numbers.end());
  EXPECT_EQ(all.size(), size_t{kThreads} * kDraws);
  EXPECT_EQ(*all.begin(), 1U);
  EXPECT_EQ(*all.rbegin(), uint32_t{kThreads} * kDraws);
  MonitorTable::unblock(*first.entry);
  EXPECT_FALSE(table.find(0x4000)->is_contended());
  const auto next = table.block(0x4000);
  EXPECT_EQ(next.entry->draw(next.generation), 1U);  // each generation begins anew
  EXPECT_EQ(next.entry->draw(first.generation), 0U);
}

}  // namespace
}  // namespace tarsier::capture
