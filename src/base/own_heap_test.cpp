#include "base/own_heap.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

namespace tarsier {
namespace {

struct Piece {
  uint8_t* begin;
  size_t size;
  uint8_t mark;

  [[nodiscard]] bool holds() const {
    for (size_t i = 0; i < size; ++i) {
      if (begin[i] != mark) return false;
    }
    return true;
  }
};

Piece allocate(OwnHeap& heap, size_t size, uint8_t mark) {
  void* block = heap.allocate(size);
  EXPECT_NE(block, nullptr) << size;
  EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % alignof(std::max_align_t), 0u) << size;
  std::memset(block, mark, size);
  return {static_cast<uint8_t*>(block), size, mark};
}

// Sizes about each limit between size classes, and between small and large.
TEST(OwnHeap, blocks_of_every_size_keep_what_is_written_to_them) {
  OwnHeap heap;
  std::vector<Piece> blocks;
  uint8_t mark = 0;
  for (size_t power = 0; power <= 20; ++power) {
    for (size_t quarter = 4; quarter < 8; ++quarter) {
      const size_t limit = (size_t{1} << power) * quarter / 4;
      for (size_t size : {limit - 1, limit, limit + 1}) blocks.push_back(allocate(heap, size, ++mark));
    }
  }
  for (const Piece& block : blocks) EXPECT_TRUE(block.holds()) << block.size;
  for (const Piece& block : blocks) heap.release(block.begin);
  heap.release(nullptr);
  heap.trim();
  EXPECT_EQ(heap.mapped(), 0u);
}

TEST(OwnHeap, a_size_that_nobody_has_is_refused) {
  OwnHeap heap;
  EXPECT_EQ(heap.allocate(SIZE_MAX), nullptr);
  EXPECT_EQ(heap.allocate(SIZE_MAX / 2), nullptr);
  EXPECT_EQ(heap.mapped(), 0u);
}

TEST(OwnHeap, leaves_errno_as_it_was) {
  OwnHeap heap;
  std::vector<void*> blocks;
  for (size_t size : {16, 300, 5'000, 100'000}) {
    errno = EROFS;
    blocks.push_back(heap.allocate(size));
    EXPECT_EQ(errno, EROFS) << size;
  }
  for (void* block : blocks) {
    errno = EROFS;
    heap.release(block);
    EXPECT_EQ(errno, EROFS);
  }
  heap.trim();
  EXPECT_EQ(errno, EROFS);
  EXPECT_EQ(heap.mapped(), 0u);
}

TEST(OwnHeap, freed_blocks_are_used_again) {
  OwnHeap heap;
  std::vector<void*> blocks;
  for (int round = 0; round < 100; ++round) {
    for (int i = 0; i < 10'000; ++i) blocks.push_back(heap.allocate(48));
    for (void* block : blocks) heap.release(block);
    blocks.clear();
  }
  EXPECT_LT(heap.mapped(), 2u << 20);
}

TEST(OwnHeap, a_block_more_or_less_at_the_edge_of_a_slab_maps_nothing) {
  OwnHeap heap;
  std::vector<void*> blocks;
  const auto before = [&] {
    void* block = heap.allocate(1024);
    blocks.push_back(block);
    return heap.mapped();
  }();
  while (heap.mapped() == before) blocks.push_back(heap.allocate(1024));
  for (int i = 0; i < 10; ++i) {
    heap.release(blocks.back());
    EXPECT_EQ(heap.mapped(), 2 * before);  // kept for the next
    blocks.back() = heap.allocate(1024);
    EXPECT_EQ(heap.mapped(), 2 * before);
  }
  for (void* block : blocks) heap.release(block);
  heap.trim();
  EXPECT_EQ(heap.mapped(), 0u);
}

TEST(OwnHeap, threads_give_back_each_others_blocks) {
  OwnHeap heap;
  std::mutex lock;
  std::vector<Piece> shared;
  const auto work = [&](uint32_t seed) {
    std::minstd_rand random(seed);
    for (int i = 0; i < 20'000; ++i) {
      if (random() % 2 == 0) {
        const Piece block =
            allocate(heap, random() % (random() % 64 == 0 ? 100'000 : 400), static_cast<uint8_t>(random()));
        std::lock_guard guard(lock);
        shared.push_back(block);
        continue;
      }
      Piece block{};
      {
        std::lock_guard guard(lock);
        if (shared.empty()) continue;
        const size_t which = random() % shared.size();
        block = shared[which];
        shared[which] = shared.back();
        shared.pop_back();
      }
      EXPECT_TRUE(block.holds());
      heap.release(block.begin);
    }
  };
  std::vector<std::thread> threads;
  for (uint32_t seed = 1; seed <= 4; ++seed) threads.emplace_back(work, seed);
  for (std::thread& thread : threads) thread.join();
  for (const Piece& block : shared) heap.release(block.begin);
  heap.trim();
  EXPECT_EQ(heap.mapped(), 0u);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(OwnHeap, malloc_does_not_hear_of_it) {
  OwnHeap heap;
  std::vector<void*> blocks(200);
  const auto before = ::mallinfo2();
  for (size_t i = 0; i < blocks.size(); ++i) blocks[i] = heap.allocate(i % 2 == 0 ? 256 << 10 : 1000);
  const auto after = ::mallinfo2();
  EXPECT_EQ(after.hblks, before.hblks);
  EXPECT_EQ(after.uordblks, before.uordblks);
  for (void* block : blocks) heap.release(block);
}
#endif

}  // namespace
}  // namespace tarsier
