#include "capture/frozen_frames.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "capture/virtual_thread_for_test.h"

namespace tarsier::capture {
namespace {

constexpr size_t kThread = MadeUpVirtualThread::kThread, kName = MadeUpVirtualThread::kName,
                 kContinuation = MadeUpVirtualThread::kContinuation, kChunk = MadeUpVirtualThread::kChunk,
                 kParent = MadeUpVirtualThread::kParent, kWords = MadeUpVirtualThread::kWords;

class FrozenFramesTest : public testing::Test {
 protected:
  // What follows the fragment.
  std::vector<uint8_t> copy(const hotspot::Fragment& interrupted = {}) {
    FrozenFrames frozen(used, ::getpid(), reinterpret_cast<const uint8_t*>(java_thread), &named);
    fragment = interrupted;
    frozen.find(fragment);
    std::vector<uint8_t> out(fragment.frozen_bytes + fragment.padded_name() + 1);
    frozen.copy(fragment, out.data(), out.data() + fragment.frozen_bytes);
    return out;
  }

  MadeUpVirtualThread heap;
  uint64_t java_thread[2] = {reinterpret_cast<uint64_t>(&heap.handles[0]),
                             reinterpret_cast<uint64_t>(&heap.handles[1])};
  hotspot::VirtualThreadLayout used = MadeUpVirtualThread::layout();
  hotspot::Fragment fragment{};
  NamedVirtuals named;
};

TEST_F(FrozenFramesTest, copies_the_words_of_all_chunks_and_the_name_once) {
  const auto bytes = copy();
  EXPECT_EQ(fragment.virtual_id, 77);
  EXPECT_FALSE(fragment.frozen_cut);
  ASSERT_EQ(fragment.frozen_bytes, 2 * sizeof(hotspot::FrozenPart) + 8 * (6 + 4));
  hotspot::FrozenPart part{};
  std::memcpy(&part, bytes.data(), sizeof(part));
  EXPECT_EQ(part.bytes, 8u * 6);  // two words below sp, four from it on
  EXPECT_EQ(part.begin, heap.at(kChunk + kWords / 8 + 2));
  uint64_t first = 0;
  std::memcpy(&first, bytes.data() + sizeof(part), 8);
  EXPECT_EQ(first, kChunk * 100 + 2);
  ASSERT_EQ(fragment.name_bytes, 6);
  EXPECT_EQ(std::memcmp(bytes.data() + fragment.frozen_bytes, "worker", 6), 0);
  named.add(77);
  copy();
  EXPECT_EQ(fragment.name_bytes, 0);
  EXPECT_GT(fragment.frozen_bytes, 0u);
  named.forget();  // it may have another one by now
  copy();
  EXPECT_EQ(fragment.name_bytes, 6);
}

TEST(NamedVirtualsTest, are_many_at_a_time_and_never_somebody_else) {
  NamedVirtuals named;
  EXPECT_FALSE(named.has(0));
  EXPECT_FALSE(named.has(1));
  int kept = 0;
  for (int64_t id = 1; id <= 1000; ++id) {
    EXPECT_FALSE(named.has(id)) << id;
    named.add(id);
    EXPECT_TRUE(named.has(id)) << id;
  }
  for (int64_t id = 1; id <= 1000; ++id) kept += named.has(id) ? 1 : 0;
  EXPECT_GT(kept, 700);
  for (int64_t id = 1001; id <= 100'000; ++id) EXPECT_FALSE(named.has(id)) << id;
  for (int i = 0; i < 1000; ++i) {
    named.forget();
    EXPECT_FALSE(named.has(1000)) << i;
  }
}

TEST_F(FrozenFramesTest, in_code_that_may_move_frames_the_words_below_are_copied_as_well) {
  used.code_begin = 0x1000;
  used.code_end = 0x2000;
  hotspot::Fragment interrupted{};
  interrupted.thread_state = hotspot::kThreadInJava;
  for (const bool in_java : {true, false}) {
    interrupted.pc = in_java ? 0x1800 : 0x3000;
    const auto bytes = copy(interrupted);
    hotspot::FrozenPart part{};
    std::memcpy(&part, bytes.data(), sizeof(part));
    EXPECT_EQ(part.below, in_java ? 0 : 4);
    EXPECT_EQ(part.begin, heap.at(kChunk + kWords / 8 + 2) - (in_java ? 0 : 8 * 4));
    EXPECT_EQ(part.bytes, 8u * (in_java ? 6 : 10));
  }
  heap.chunk(kChunk, kParent, 8, 8);  // all of its frames have left
  copy(interrupted);
  EXPECT_EQ(fragment.frozen_bytes, 2 * sizeof(hotspot::FrozenPart) + 8 * (10 + 4));
  interrupted.anchor.sp = 1;
  copy(interrupted);
  EXPECT_EQ(fragment.frozen_bytes, sizeof(hotspot::FrozenPart) + 8 * 4);
}

TEST_F(FrozenFramesTest, a_carrier_on_its_own_has_nothing_frozen) {
  heap.handles[1] = heap.handles[0];
  copy();
  EXPECT_EQ(fragment.virtual_id, 0);
  EXPECT_EQ(fragment.frozen_bytes, 0u);
}

TEST_F(FrozenFramesTest, what_can_not_be_read_or_is_no_chunk_is_left_out_and_said_so) {
  heap.words[kParent - 0] = 1;
  heap.words[kChunk + 1] = 0x10;  // the parent: nothing is mapped there
  copy();
  EXPECT_TRUE(fragment.frozen_cut);
  EXPECT_EQ(fragment.frozen_bytes, sizeof(hotspot::FrozenPart) + 8 * 6);
  heap.chunk(kChunk, kParent, 8, 9);  // sp behind the end
  copy();
  EXPECT_TRUE(fragment.frozen_cut);
  EXPECT_EQ(fragment.frozen_bytes, 0u);
  heap.chunk(kChunk, kChunk, 8, 4);  // a ring
  copy();
  EXPECT_TRUE(fragment.frozen_cut);
  EXPECT_LE(fragment.frozen_bytes, FrozenFrames::kMaxBytes + FrozenFrames::kMaxParts * sizeof(hotspot::FrozenPart));
}

TEST_F(FrozenFramesTest, a_chunk_that_was_moved_is_followed) {
  heap.chunk(80, 0, 6, 3);
  heap.words[kChunk] = heap.at(80) | 3;
  const auto bytes = copy();
  hotspot::FrozenPart part{};
  ASSERT_GE(bytes.size(), sizeof(part));
  std::memcpy(&part, bytes.data(), sizeof(part));
  EXPECT_EQ(part.begin, heap.at(80 + kWords / 8 + 1));
}

TEST_F(FrozenFramesTest, references_with_colours_are_followed_while_they_are_good) {
  const uint64_t bad = 1, bits = 4;
  used.references.bad_colours = &bad;
  used.references.colour_bits = &bits;
  const auto colour = [&](uint64_t& reference, uint64_t with) { reference = reference << bits | with; };
  for (uint64_t& handle : heap.handles) colour(handle, 2);
  for (const size_t index : {kThread + 2, kThread + 3, kName + 1, kContinuation + 1, kChunk + 1})
    colour(heap.words[index], 4);
  heap.words[kParent + 1] = 1;  // null, of a bad colour
  copy();
  EXPECT_EQ(fragment.virtual_id, 77);
  EXPECT_FALSE(fragment.frozen_cut);
  EXPECT_EQ(fragment.frozen_bytes, 2 * sizeof(hotspot::FrozenPart) + 8 * (6 + 4));
  heap.words[kChunk + 1] |= bad;
  copy();
  EXPECT_TRUE(fragment.frozen_cut);
}

}  // namespace
}  // namespace tarsier::capture
