#include "agent/engines/slots.h"

#include <gtest/gtest.h>

#include <set>

namespace tarsier::agent {
namespace {

TEST(Slots, nobody_gets_what_another_has_and_no_more_than_there_are) {
  Slots slots(300);
  std::set<uint32_t> taken;
  for (int i = 0; i < 300; ++i) {
    const auto slot = slots.take();
    ASSERT_TRUE(slot);
    EXPECT_LT(*slot, 300u);
    EXPECT_TRUE(taken.insert(*slot).second) << *slot;
  }
  EXPECT_FALSE(slots.take());
  slots.give_back(17);
  EXPECT_EQ(slots.take(), 17u);
  EXPECT_FALSE(slots.take());
}

TEST(Slots, what_was_given_back_rests_while_there_are_others) {
  Slots slots(1000);
  const auto first = slots.take();
  slots.give_back(*first);
  for (int i = 1; i < 256; ++i) {
    const auto slot = slots.take();
    ASSERT_NE(slot, first);
    slots.give_back(*slot);
  }
  EXPECT_EQ(slots.take(), first);
}

}  // namespace
}  // namespace tarsier::agent
