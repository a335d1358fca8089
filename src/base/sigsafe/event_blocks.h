// Buffers of events: each thread writes into a block of its own, without synchronisation; a full one is handed over and
// a new one is taken. Blocks are of different sizes, drawn by chance, so that equal threads do not fill theirs at the
// same time. Memory is bounded: without a free block the event is dropped, and the caller counts it. The block that was
// given back last is taken first: it may still be in the cache.
//
// One consumer. It reads full blocks as they come, and what has been written into the others when it likes: an event is
// there for it once the block's `written` says so.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/sigsafe/random_period.h"

namespace tarsier {

class EventBlocks {
 public:
  static constexpr size_t kBlockBytes = 24 << 10;
  static constexpr size_t kSmallest = 8 << 10;

  struct Block {
    enum State : uint32_t { kFree, kInUse, kFull };
    std::atomic<uint32_t> state{kFree};
    std::atomic<uint32_t> written{0};  // bytes
    uint32_t read = 0;                 // of these, by the consumer
    uint32_t room = 0;
    std::atomic<uint32_t> next_free{0};  // see free_
    uint64_t taken = 0;  // a number that grows with each block taken: those of a thread are in its order
    // In a cache line of its own: an event of the size of a line should not need two.
    static constexpr size_t kLine = 64;
    alignas(kLine) uint8_t bytes[kBlockBytes - kLine];
  };
  static_assert(sizeof(Block) == kBlockBytes);

  // `memory` is zeroed and owned by the caller.
  EventBlocks(void* memory, size_t bytes, uint64_t seed) noexcept
      : blocks_(static_cast<Block*>(memory)), count_(bytes / kBlockBytes), random_(seed | 1) {}

  // A block for the calling thread; null if all are taken.
  Block* take() noexcept {
    // Whoever sees the number sees all that this thread has handed over before: see look().
    const uint64_t number = taken_.fetch_add(1, std::memory_order_acq_rel);
    Block* block = take_free();
    if (block == nullptr) block = take_unused();
    if (block == nullptr) return nullptr;
    uint64_t draw = random_ ^ (number * 0x9e3779b97f4a7c15ULL) ^ 1;
    const size_t most = sizeof(block->bytes);
    block->room = static_cast<uint32_t>(kSmallest + next_random(draw) % (most - kSmallest + 1));
    block->taken = number + 1;
    block->state.store(Block::kInUse, std::memory_order_release);
    return block;
  }

  // By the thread that has it. False if it is full.
  static bool write(Block& block, const void* event, size_t bytes) noexcept {
    const uint32_t at = block.written.load(std::memory_order_relaxed);
    if (at + bytes > block.room) return false;
    std::memcpy(block.bytes + at, event, bytes);
    // The consumer's CPU has the line that is next: it is asked for now, when nobody waits for it.
    __builtin_prefetch(block.bytes + at + bytes, 1);
    block.written.store(at + static_cast<uint32_t>(bytes), std::memory_order_release);
    return true;
  }
  static void hand_over(Block& block) noexcept { block.state.store(Block::kFull, std::memory_order_release); }

  // The consumer: what has not been read yet. When it has been, `read` is to be raised, and a block that was handed
  // over is to be given back.
  struct Part {
    Block* block;
    const uint8_t* bytes;
    size_t size;
    bool handed_over;
  };
  // Visits the parts of blocks that were handed over, or of `all`. Sorted by `taken` of their blocks, the events of
  // each thread are in their order, and what is not visited comes after them: a thread may hand over blocks and take
  // others while we look, so those taken since we began are left out.
  template <class Visit>
  void look(bool all, Visit&& visit) noexcept {
    const uint64_t until = taken_.load(std::memory_order_acquire);
    const size_t used = std::min<size_t>(used_.load(std::memory_order_acquire), count_);
    for (size_t i = 0; i < used; ++i) {
      Block& block = blocks_[i];
      const uint32_t state = block.state.load(std::memory_order_acquire);
      const bool handed_over = state == Block::kFull;
      if ((!handed_over && state != Block::kInUse) || block.taken > until || (!handed_over && !all)) continue;
      const uint32_t written = block.written.load(std::memory_order_acquire);
      visit(Part{&block, block.bytes + block.read, written - block.read, handed_over});
    }
  }
  void give_back(Block& block) noexcept {
    block.written.store(0, std::memory_order_relaxed);
    block.read = 0;
    block.state.store(Block::kFree, std::memory_order_relaxed);
    const auto place = static_cast<uint64_t>(&block - blocks_) + 1;
    uint64_t head = free_.load(std::memory_order_relaxed);
    do block.next_free.store(static_cast<uint32_t>(head & kPlace), std::memory_order_relaxed);
    while (!free_.compare_exchange_weak(head, (head & ~kPlace) + kChange + place, std::memory_order_release,
                                        std::memory_order_relaxed));
  }

 private:
  static constexpr uint64_t kPlace = UINT32_MAX, kChange = kPlace + 1;

  Block* take_free() noexcept {
    uint64_t head = free_.load(std::memory_order_acquire);
    while ((head & kPlace) != 0) {
      Block& block = blocks_[(head & kPlace) - 1];
      // If another thread has taken it meanwhile the number of changes differs, and this is not used.
      const uint32_t next = block.next_free.load(std::memory_order_relaxed);
      if (free_.compare_exchange_weak(head, (head & ~kPlace) + kChange + next, std::memory_order_acquire,
                                      std::memory_order_acquire)) {
        return &block;
      }
    }
    return nullptr;
  }
  // One that nobody has had yet: its memory may not even be there.
  Block* take_unused() noexcept {
    if (used_.load(std::memory_order_relaxed) >= count_) return nullptr;
    const size_t place = used_.fetch_add(1, std::memory_order_acq_rel);
    return place < count_ ? &blocks_[place] : nullptr;
  }

  Block* const blocks_;
  const size_t count_;
  const uint64_t random_;
  std::atomic<uint64_t> taken_{0};
  std::atomic<size_t> used_{0};  // blocks that have been taken at least once
  // A stack of free blocks, linked by next_free: the place of the first one, counted from 1, and above that the number
  // of changes.
  std::atomic<uint64_t> free_{0};
};

}  // namespace tarsier
