#include "base/sigsafe/event_blocks.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <map>
#include <set>
#include <thread>
#include <vector>

#include "base/mapping.h"

namespace tarsier {
namespace {

using Block = EventBlocks::Block;

TEST(EventBlocks, are_of_sizes_between_8_and_24_KB) {
  const Mapping memory(32 * EventBlocks::kBlockBytes);
  EventBlocks blocks(memory.data(), memory.size(), 1);
  std::set<uint32_t> rooms;
  while (const Block* block = blocks.take()) rooms.insert(block->room);
  EXPECT_GE(*rooms.begin(), 8U << 10);
  EXPECT_LE(*rooms.rbegin(), 24U << 10);
  EXPECT_GT(rooms.size(), 20U);
}

TEST(EventBlocks, without_a_free_one_there_is_none) {
  const Mapping memory(2 * EventBlocks::kBlockBytes);
  EventBlocks blocks(memory.data(), memory.size(), 1);
  Block* one = blocks.take();
  Block* other = blocks.take();
  ASSERT_NE(one, nullptr);
  ASSERT_NE(other, nullptr);
  EXPECT_EQ(blocks.take(), nullptr);
  EventBlocks::hand_over(*one);
  EXPECT_EQ(blocks.take(), nullptr);  // full, and not read yet
  blocks.give_back(*one);
  EXPECT_EQ(blocks.take(), one);
}

TEST(EventBlocks, the_one_given_back_last_is_taken_first) {
  const Mapping memory(3 * EventBlocks::kBlockBytes);
  EventBlocks blocks(memory.data(), memory.size(), 1);
  Block* one = blocks.take();
  Block* other = blocks.take();
  for (Block* block : {one, other}) {
    EventBlocks::hand_over(*block);
    blocks.give_back(*block);
  }
  EXPECT_EQ(blocks.take(), other);
  EXPECT_EQ(blocks.take(), one);
  EXPECT_NE(blocks.take(), nullptr);
  EXPECT_EQ(blocks.take(), nullptr);
}

TEST(EventBlocks, a_block_takes_no_more_than_its_room) {
  const Mapping memory(EventBlocks::kBlockBytes);
  EventBlocks blocks(memory.data(), memory.size(), 7);
  Block* block = blocks.take();
  const char event[64] = "x";
  size_t count = 0;
  while (EventBlocks::write(*block, event, sizeof(event))) ++count;
  EXPECT_EQ(count, block->room / sizeof(event));
  size_t seen = 0;
  blocks.look(true, [&](const EventBlocks::Part& part) { seen += part.size; });
  EXPECT_EQ(seen, count * sizeof(event));
}

struct Event {
  uint32_t thread, number;
};

// Every event is read once, and those of a thread in their order, whether blocks are full or looked at meanwhile.
TEST(EventBlocks, nothing_is_lost_and_nothing_is_read_twice) {
  const Mapping memory(24 * EventBlocks::kBlockBytes);
  EventBlocks blocks(memory.data(), memory.size(), 3);
  constexpr uint32_t kThreads = 3, kEvents = 30'000;
  std::atomic<uint32_t> done{0}, dropped{0};
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      Block* mine = nullptr;
      for (uint32_t i = 1; i <= kEvents; ++i) {
        const Event event{t, i};
        if (mine != nullptr && EventBlocks::write(*mine, &event, sizeof(event))) continue;
        if (mine != nullptr) EventBlocks::hand_over(*mine);
        mine = blocks.take();
        if (mine == nullptr || !EventBlocks::write(*mine, &event, sizeof(event))) dropped.fetch_add(1);
      }
      if (mine != nullptr) EventBlocks::hand_over(*mine);
      done.fetch_add(1);
    });
  }
  std::map<uint32_t, uint32_t> last;
  uint64_t read = 0;
  bool in_order = true;
  const auto look = [&] {
    std::map<uint64_t, EventBlocks::Part> parts;
    blocks.look(true, [&](const EventBlocks::Part& part) { parts[part.block->taken] = part; });
    for (const auto& [taken, part] : parts) {
      for (size_t at = 0; at + sizeof(Event) <= part.size; at += sizeof(Event)) {
        Event event;
        std::memcpy(&event, part.bytes + at, sizeof(event));
        in_order = in_order && event.number > last[event.thread];
        last[event.thread] = event.number;
        ++read;
      }
      part.block->read += static_cast<uint32_t>(part.size);
      if (part.handed_over) blocks.give_back(*part.block);
    }
  };
  while (done.load() < kThreads) look();
  for (std::thread& thread : threads) thread.join();
  look();
  EXPECT_TRUE(in_order);
  EXPECT_EQ(read + dropped.load(), uint64_t{kThreads} * kEvents);
}

}  // namespace
}  // namespace tarsier
