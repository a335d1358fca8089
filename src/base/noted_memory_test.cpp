#include "base/noted_memory.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <vector>

namespace tarsier {
namespace {

class Bytes final : public Memory {
 public:
  static constexpr Address kBegin = 0x1000;

  Bytes() : bytes(4096) { std::iota(bytes.begin(), bytes.end(), uint8_t{0}); }
  bool copy(void* out, Address from, size_t size) const noexcept override {
    ++reads;
    if (from < kBegin || from - kBegin > bytes.size() || size > bytes.size() - (from - kBegin)) return false;
    std::memcpy(out, bytes.data() + (from - kBegin), size);
    return true;
  }
  std::vector<uint8_t> bytes;
  mutable int reads = 0;
};

TEST(NotedMemory, keeps_the_lines_that_were_read) {
  const Bytes source;
  const NotedMemory noted(source, 100);
  EXPECT_EQ(noted.read<uint8_t>(Bytes::kBegin + 200), uint8_t{200});
  EXPECT_EQ(noted.read<uint16_t>(Bytes::kBegin + 63), uint16_t{64 << 8 | 63});  // lies on two lines
  ASSERT_EQ(noted.lines().size(), 3u);
  EXPECT_EQ(noted.lines().at(Bytes::kBegin + 192).content[8], 200);
}

TEST(NotedMemory, shows_one_state_of_what_changes_meanwhile) {
  Bytes source;
  const NotedMemory noted(source, 100);
  EXPECT_EQ(noted.read<uint8_t>(Bytes::kBegin + 1), uint8_t{1});
  source.bytes[1] = source.bytes[2] = 77;
  EXPECT_EQ(noted.read<uint8_t>(Bytes::kBegin + 1), uint8_t{1});
  EXPECT_EQ(noted.read<uint8_t>(Bytes::kBegin + 2), uint8_t{2});
  EXPECT_EQ(source.reads, 1);
}

TEST(NotedMemory, notes_what_can_not_be_read) {
  const Bytes source;
  const NotedMemory noted(source, 100);
  uint8_t out[256];
  EXPECT_FALSE(noted.copy(out, Bytes::kBegin + 4096 - 64, 128));
  EXPECT_TRUE(noted.lines().at(Bytes::kBegin + 4096 - 64).readable);
  EXPECT_FALSE(noted.lines().at(Bytes::kBegin + 4096).readable);
  EXPECT_FALSE(noted.copy(out, UINTPTR_MAX - 8, 16));
  EXPECT_FALSE(noted.copy(out, 8, UINTPTR_MAX - 4));
  EXPECT_FALSE(noted.overflowed());
}

TEST(NotedMemory, takes_no_more_than_it_may) {
  const Bytes source;
  NotedMemory noted(source, 2);
  uint8_t out[256];
  EXPECT_TRUE(noted.copy(out, Bytes::kBegin, 128));
  EXPECT_FALSE(noted.copy(out, Bytes::kBegin + 64, 128));
  EXPECT_TRUE(noted.overflowed());
  EXPECT_EQ(noted.lines().size(), 2u);
  noted.forget();
  EXPECT_FALSE(noted.overflowed());
  EXPECT_TRUE(noted.copy(out, Bytes::kBegin + 128, 64));
}

}  // namespace
}  // namespace tarsier
