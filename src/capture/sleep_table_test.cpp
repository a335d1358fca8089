#include "capture/sleep_table.h"

#include <gtest/gtest.h>

#include <array>

namespace tarsier::capture {
namespace {

class SleepTableTest : public testing::Test {
 protected:
  std::array<SleepTable::Slot, 64> slots_{};
  SleepTable table_{slots_.data(), slots_.size()};
};

TEST_F(SleepTableTest, tells_the_monitor_once) {
  table_.sleeps(0x1000, 7);
  table_.sleeps(0x2000, 8);
  EXPECT_EQ(table_.take(0x1000), 7U);
  EXPECT_EQ(table_.take(0x1000), 0U);
  EXPECT_EQ(table_.take(0x2000), 8U);
  EXPECT_EQ(table_.take(0x3000), 0U);
}

TEST_F(SleepTableTest, a_variable_may_be_used_again) {
  table_.sleeps(0x1000, 7);
  table_.sleeps(0x1000, 9);
  EXPECT_EQ(table_.take(0x1000), 9U);
  table_.sleeps(0x1000, 7);
  EXPECT_EQ(table_.take(0x1000), 7U);
}

TEST_F(SleepTableTest, what_finds_no_room_is_not_told) {
  for (uint64_t i = 1; i <= 200; ++i) table_.sleeps(i * 64, i);
  size_t told = 0;
  for (uint64_t i = 1; i <= 200; ++i) {
    const uint64_t monitor = table_.take(i * 64);
    EXPECT_TRUE(monitor == 0 || monitor == i);
    told += monitor != 0 ? 1 : 0;
  }
  EXPECT_EQ(told, slots_.size());
}

}  // namespace
}  // namespace tarsier::capture
