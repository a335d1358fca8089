#include "base/large_blocks.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <cstring>
#include <vector>

namespace tarsier {
namespace {

TEST(LargeBlocks, blocks_of_any_size_can_be_used_and_given_back) {
  std::vector<void*> blocks;
  for (size_t size : {size_t{0}, size_t{1}, size_t{63 << 10}, LargeBlocks::kFrom, size_t{1 << 20}}) {
    void* block = LargeBlocks::allocate(size);
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % alignof(std::max_align_t), 0u);
    std::memset(block, 0x5a, size);
    blocks.push_back(block);
  }
  for (void* block : blocks) LargeBlocks::release(block);
  LargeBlocks::release(nullptr);
  EXPECT_EQ(LargeBlocks::allocate(SIZE_MAX - 8), nullptr);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(LargeBlocks, malloc_does_not_hear_of_the_large_ones) {
  const auto mapped = ::mallinfo2().hblks, in_use = ::mallinfo2().uordblks;
  std::vector<void*> blocks;
  for (int i = 0; i < 100; ++i) blocks.push_back(LargeBlocks::allocate(256 << 10));
  EXPECT_EQ(::mallinfo2().hblks, mapped);
  EXPECT_LT(::mallinfo2().uordblks, in_use + (1 << 20));
  for (void* block : blocks) LargeBlocks::release(block);
  EXPECT_EQ(::mallinfo2().hblks, mapped);
}
#endif

}  // namespace
}  // namespace tarsier
