#include "attach/perf_data.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "hotspot/perf_data_for_test.h"

namespace tarsier::attach {
namespace {

using Builder = hotspot::PerfDataBuilder;

class ByteOrder : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(PerfData, ByteOrder, testing::Bool());

TEST_P(ByteOrder, StringsAreReadAndNumbersLeftOut) {
  const auto bytes =
      Builder(GetParam()).number("a.number").string("sun.rt.javaCommand", "Main a b").string("x", "").bytes();
  const auto counters = parse_perf_data(bytes);
  ASSERT_TRUE(counters.ok());
  EXPECT_EQ(counters->size(), 2u);
  EXPECT_EQ(counters->at("sun.rt.javaCommand"), "Main a b");
  EXPECT_EQ(counters->at("x"), "");
}

TEST(PerfData, ThatIsNoneIsRefused) {
  EXPECT_FALSE(parse_perf_data({}).ok());
  EXPECT_FALSE(parse_perf_data(std::vector<uint8_t>(31, 0xca)).ok());
  auto other_version = Builder(true).bytes();
  other_version[5] = 3;
  EXPECT_FALSE(parse_perf_data(other_version).ok());
}

TEST(PerfData, CutAnywhereKeepsTheWholeEntriesBeforeTheCut) {
  const auto bytes = Builder(true).string("first", "1").string("second", "2").bytes();
  const size_t first_end = bytes.size() / 2 + 16;
  for (size_t size = 32; size < bytes.size(); ++size) {
    const auto counters = parse_perf_data(std::span(bytes).first(size));
    ASSERT_TRUE(counters.ok());
    EXPECT_EQ(counters->count("first"), size >= first_end ? 1u : 0u) << size;
    EXPECT_EQ(counters->count("second"), 0u);
  }
}

TEST(PerfData, WithOffsetsThatPointOutsideIsReadWithoutThem) {
  for (const size_t field : {0, 4, 8, 16}) {
    for (const uint32_t value : {0u, 19u, 64u, 65u, 1000u, 0x7fffffffu, 0xfffffff0u, 0xffffffffu}) {
      Builder builder(true);
      builder.string("name", "value").string("other", "value");
      builder.put(32 + field, value);
      EXPECT_TRUE(parse_perf_data(builder.bytes()).ok());
    }
  }
  Builder far_away(true);
  far_away.string("name", "value");
  far_away.put(24, 0xfffffff8);
  EXPECT_TRUE(parse_perf_data(far_away.bytes())->empty());
}

TEST(PerfData, WithRandomDamageNeverReadsOutside) {
  std::mt19937 random(7);
  const auto good = Builder(true).string("sun.rt.javaCommand", "Main").number("n").string("b", "c").bytes();
  for (int round = 0; round < 20'000; ++round) {
    auto bytes = good;
    for (int i = 0; i < 4; ++i) bytes[4 + random() % (bytes.size() - 4)] = static_cast<uint8_t>(random());
    bytes.resize(random() % (bytes.size() + 1));
    bytes.shrink_to_fit();
    (void)parse_perf_data(bytes);  // ASan watches
  }
}

}  // namespace
}  // namespace tarsier::attach
