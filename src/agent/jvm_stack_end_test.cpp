#include "agent/engines/jvm_stack_end.h"

#include <gtest/gtest.h>

#include "base/mapping.h"

namespace tarsier::agent {
namespace {

uint64_t now() {
  return static_cast<uint64_t>(monotonic_now().count) + 1;
}

hotspot::Fragment fragment_at(uint64_t sp, uint32_t bytes) {
  hotspot::Fragment fragment{};
  fragment.sp = sp;
  fragment.stack_bytes = bytes;
  return fragment;
}

TEST(JvmStackEnd, is_that_of_the_mapping_until_a_stack_has_been_walked) {
  int on_stack = 0;
  const auto sp = reinterpret_cast<uint64_t>(&on_stack) & ~uint64_t{7};
  const uint64_t mapping = linux::mapping_end(sp);
  ASSERT_GT(mapping, sp);
  JvmStackEnd end;
  const uint64_t before = now();
  EXPECT_EQ(end.saw(fragment_at(sp, 0), before, 0), mapping);
  EXPECT_EQ(end.saw(fragment_at(sp, 0), before + 1, 0), std::nullopt);  // was taken before that was learned
  EXPECT_EQ(end.saw(fragment_at(sp, 64), now(), 0), std::nullopt);      // could not be walked
  EXPECT_EQ(end.saw(fragment_at(sp, 64), now(), sp + 32), sp + 32);
  EXPECT_EQ(end.saw(fragment_at(sp, 32), now(), sp + 24), std::nullopt);  // is known
}

TEST(JvmStackEnd, comes_nearer_while_there_is_no_memory) {
  int on_stack = 0;
  const auto sp = reinterpret_cast<uint64_t>(&on_stack) & ~uint64_t{7};
  JvmStackEnd end;
  uint64_t last = end.saw(fragment_at(sp, 0), now(), 0).value_or(0);
  for (int i = 0; i < 64 && last > sp; ++i) {
    const uint64_t next = end.saw(fragment_at(sp, 0), now(), 0).value_or(0);
    EXPECT_LT(next, last);
    last = next;
  }
  EXPECT_EQ(last, sp);
  EXPECT_GT(end.saw(fragment_at(sp, 0), now(), 0).value_or(0), sp);  // from the beginning
}

TEST(MappingEnd, is_nothing_outside_of_all_mappings) {
  EXPECT_EQ(linux::mapping_end(16), 0U);
  EXPECT_EQ(linux::mapping_end(~uint64_t{0}), 0U);
  const Mapping mapping(8192);
  const auto begin = reinterpret_cast<uint64_t>(mapping.data());
  EXPECT_GE(linux::mapping_end(begin), begin + 8192);
}

}  // namespace
}  // namespace tarsier::agent
