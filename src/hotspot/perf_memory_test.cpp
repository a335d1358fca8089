#include "hotspot/perf_memory.h"

#include <gtest/gtest.h>

#include <random>

#include "hotspot/image_for_test.h"
#include "hotspot/perf_data_for_test.h"

namespace tarsier::hotspot {
namespace {

// A JVM with these counters somewhere in its memory.
class PerfMemoryTest : public testing::Test {
 protected:
  Result<PerfMemory> find(const std::vector<uint8_t>& bytes) {
    const Address region = jvm_.image.reserve(bytes.size() + 64);
    for (size_t i = 0; i < bytes.size(); ++i) jvm_.image.put(region + i, bytes[i]);
    return find_at(region, region + bytes.size() + 64);
  }
  Result<PerfMemory> find_at(Address start, Address end) {
    for (const auto& [field, value] : {std::pair("_start", start), std::pair("_end", end)}) {
      const Address at = jvm_.image.reserve(8);
      jvm_.image.put(at, value);
      jvm_.static_member("PerfMemory", field, at);
    }
    auto structs = jvm_.load();
    return PerfMemory::find(jvm_.image, *structs);
  }
  Jvm jvm_;
};

std::vector<uint8_t> some_counters() {
  return PerfDataBuilder(true)
      .number("sun.rt.safepoints", 42)
      .string("sun.gc.cause", "No GC")
      .number("sun.rt.safepointTime", INT64_MAX)
      .bytes();
}

TEST_F(PerfMemoryTest, has_numbers_and_texts_by_their_names) {
  const auto found = find(some_counters());
  ASSERT_TRUE(found.ok()) << found.error().what;
  EXPECT_EQ(found->read_number("sun.rt.safepoints"), 42);
  EXPECT_EQ(found->read_number("sun.rt.safepointTime"), INT64_MAX);
  EXPECT_EQ(found->read_text("sun.gc.cause"), "No GC");
  EXPECT_EQ(found->text("sun.gc.cause")->size, 6u);
  EXPECT_EQ(*found->number("sun.rt.safepoints") % 8, 0u);
}

TEST_F(PerfMemoryTest, is_read_anew_each_time) {
  const auto found = find(some_counters());
  ASSERT_TRUE(found.ok());
  jvm_.image.put<int64_t>(*found->number("sun.rt.safepoints"), 43);
  EXPECT_EQ(found->read_number("sun.rt.safepoints"), 43);
}

TEST_F(PerfMemoryTest, has_nothing_of_another_name_or_kind) {
  const auto found = find(some_counters());
  ASSERT_TRUE(found.ok());
  EXPECT_FALSE(found->number("sun.rt.safepoint"));
  EXPECT_FALSE(found->number("sun.gc.cause"));
  EXPECT_FALSE(found->text("sun.rt.safepoints"));
  EXPECT_EQ(found->read_text("sun.rt.safepoints"), "");
}

TEST_F(PerfMemoryTest, of_a_jvm_that_keeps_none_says_which_flag_that_is) {
  const auto found = find_at(0, 0);
  ASSERT_FALSE(found.ok());
  EXPECT_NE(found.error().what.find("-XX:-UsePerfData"), std::string::npos);
}

TEST_F(PerfMemoryTest, that_is_not_there_is_an_error) {
  EXPECT_FALSE(find_at(0x7000'0000'0000, 0x7000'0001'0000).ok());
  EXPECT_FALSE(find_at(0x10000, 0x8000).ok());
  EXPECT_FALSE(find_at(UINTPTR_MAX - 7, UINTPTR_MAX).ok());
}

TEST_F(PerfMemoryTest, of_a_jvm_that_does_not_tell_where_it_is_is_an_error) {
  jvm_.static_member("PerfMemory", "_top", 0);
  auto structs = jvm_.load();
  ASSERT_TRUE(structs.ok());
  EXPECT_FALSE(PerfMemory::find(jvm_.image, *structs).ok());
}

TEST_F(PerfMemoryTest, that_claims_to_be_larger_than_it_is_is_read_to_its_end) {
  auto bytes = some_counters();
  for (size_t i = 8; i < 12; ++i) bytes[i] = 0xff;
  const auto found = find(bytes);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->read_number("sun.rt.safepoints"), 42);
}

TEST(PerfEntries, of_random_damage_lie_within_the_bytes) {
  std::mt19937 random(7);
  const auto good = some_counters();
  size_t seen = 0;
  for (int round = 0; round < 20'000; ++round) {
    auto bytes = good;
    for (int i = 0; i < 3; ++i) bytes[6 + random() % (bytes.size() - 6)] = static_cast<uint8_t>(random());
    bytes.resize(bytes.size() - random() % 40);
    bytes.shrink_to_fit();
    const auto entries = perf_entries(bytes);
    ASSERT_TRUE(entries.ok());
    for (const PerfEntry& entry : *entries) {
      ++seen;
      ASSERT_LE(entry.at, bytes.size());
      ASSERT_LE(entry.size, bytes.size() - entry.at);
      const auto* name = reinterpret_cast<const uint8_t*>(entry.name.data());
      ASSERT_GE(name, bytes.data());
      ASSERT_LE(name + entry.name.size(), bytes.data() + bytes.size());
    }
  }
  EXPECT_GT(seen, 10'000u);
}

}  // namespace
}  // namespace tarsier::hotspot
