#include "agent/stub_names.h"

#include <gtest/gtest.h>

namespace tarsier::agent {
namespace {

TEST(StubNames, the_smallest_piece_around_a_pc_names_it) {
  StubNames names;
  const auto at = [](uintptr_t address) { return reinterpret_cast<const void*>(address); };
  names.add("StubRoutines (2)", at(0x1000), 0x1000);
  names.add("jbyte_arraycopy", at(0x1000), 0x100);
  names.add("crc32", at(0x1100), 0x80);
  names.add("nothing", at(0x1180), 0);
  names.add(nullptr, at(0x1180), 8);
  names.sort();
  EXPECT_EQ(names.at(0x1000), "jbyte_arraycopy");
  EXPECT_EQ(names.at(0x10ff), "jbyte_arraycopy");
  EXPECT_EQ(names.at(0x1100), "crc32");
  EXPECT_EQ(names.at(0x1180), "StubRoutines (2)");
  EXPECT_EQ(names.at(0x1fff), "StubRoutines (2)");
  EXPECT_EQ(names.at(0x2000), "");
  EXPECT_EQ(names.at(0xfff), "");
}

}  // namespace
}  // namespace tarsier::agent
