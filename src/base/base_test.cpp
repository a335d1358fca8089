#include <gtest/gtest.h>

#include <random>

#include "base/parse.h"
#include "base/varint.h"

namespace tarsier {
namespace {

TEST(Varint, every_value_comes_back_and_no_byte_is_read_past_its_end) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 100'000; ++i) {
    const uint64_t value = random() >> (random() % 64);
    uint8_t bytes[kMaxVarint];
    const size_t n = put_varint(bytes, value);
    uint64_t back = ~value;
    EXPECT_EQ(get_varint(bytes, bytes + n, back), bytes + n);
    EXPECT_EQ(back, value);
    EXPECT_EQ(get_varint(bytes, bytes + n - 1, back), nullptr);
  }
}

TEST(Varint, the_ninth_byte_is_taken_whole) {
  uint8_t bytes[kMaxVarint];
  ASSERT_EQ(put_varint(bytes, ~uint64_t{0}), 9u);
  EXPECT_EQ(bytes[8], 0xff);
}

TEST(Varint, the_padded_form_reads_as_the_same_value) {
  for (uint32_t value : {0u, 1u, 127u, 128u, 70'000u, (1u << 28) - 1}) {
    uint8_t bytes[4];
    put_varint_padded4(bytes, value);
    uint64_t back = 0;
    EXPECT_EQ(get_varint(bytes, bytes + 4, back), bytes + 4);
    EXPECT_EQ(back, value);
  }
}

TEST(Durations, are_read_as_people_write_them) {
  EXPECT_EQ(*parse_duration("10us"), micros(10));
  EXPECT_EQ(*parse_duration("1ms"), millis(1));
  EXPECT_EQ(*parse_duration("1.5s"), millis(1500));
  EXPECT_EQ(*parse_duration("2m"), seconds(120));
  for (const char* bad : {"", "1", "ms", "-1s", "1 s", "1e999s", "nans", "1parsec"}) {
    const auto result = parse_duration(bad);
    ASSERT_FALSE(result) << bad;
    EXPECT_EQ(result.error().code, Errc::kUsage);
  }
}

TEST(Durations, are_written_in_their_largest_exact_unit) {
  EXPECT_EQ(format_duration(millis(1)), "1ms");
  EXPECT_EQ(format_duration(micros(1500)), "1500us");
  EXPECT_EQ(format_duration(seconds(120)), "2m");
  EXPECT_EQ(format_duration(Nanos(0)), "0s");
}

TEST(Sizes, take_binary_suffixes) {
  EXPECT_EQ(*parse_size("4096"), Bytes(4096));
  EXPECT_EQ(*parse_size("512k"), Bytes(512 << 10));
  EXPECT_EQ(*parse_size("1g"), Bytes(1 << 30));
  EXPECT_FALSE(parse_size("1q"));
}

}  // namespace
}  // namespace tarsier
