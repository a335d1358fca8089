#include "base/sigsafe/mpsc_ring.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>
#include <vector>

namespace tarsier {
namespace {

struct Ring {
  explicit Ring(size_t capacity, size_t grain = MpscRing::kLeastGrain)
      : memory(capacity / 8), ring(reinterpret_cast<uint8_t*>(memory.data()), capacity, grain) {}
  std::vector<uint64_t> memory;
  MpscRing ring;
};

TEST(MpscRing, a_full_ring_answers_nullptr_and_is_whole_again_after_consuming) {
  Ring r(1024);
  for (int round = 0; round < 100; ++round) {
    size_t reserved = 0;
    while (uint8_t* payload = r.ring.reserve(40)) {
      std::memset(payload, round, 40);
      r.ring.commit(payload);
      ++reserved;
    }
    EXPECT_GE(reserved, 20u);
    const size_t consumed = r.ring.consume([&](const uint8_t* payload, size_t room) {
      EXPECT_EQ(room, 40u);
      EXPECT_EQ(payload[39], static_cast<uint8_t>(round));
    });
    EXPECT_EQ(consumed, reserved);
    EXPECT_TRUE(r.ring.empty());
  }
}

// With a large grain most of a record stays there: it must never be taken for one.
TEST(MpscRing, what_old_records_have_left_is_no_record) {
  constexpr size_t kGrain = 64;
  Ring r(4096, kGrain);
  uint64_t seed = 1;
  for (int round = 0; round < 2'000; ++round) {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    const size_t size = 1 + (seed >> 33) % 700;
    uint8_t* payload = r.ring.reserve(size);
    ASSERT_NE(payload, nullptr);
    EXPECT_EQ((payload - MpscRing::kHeader - reinterpret_cast<uint8_t*>(r.memory.data())) % kGrain, 0);
    std::fill_n(reinterpret_cast<uint32_t*>(payload), size / 4, 1U);  // as the state of one that is committed
    EXPECT_EQ(r.ring.consume([](const uint8_t*, size_t) {}), 0U);
    r.ring.commit(payload);
    EXPECT_EQ(r.ring.consume([&](const uint8_t* at, size_t room) {
      EXPECT_EQ(at, payload);
      EXPECT_GE(room, size);
    }),
              1U);
    EXPECT_TRUE(r.ring.empty());
  }
}

TEST(MpscRing, an_uncommitted_record_holds_back_the_later_ones_and_an_abandoned_one_does_not) {
  Ring r(1024);
  uint8_t* first = r.ring.reserve(8);
  uint8_t* second = r.ring.reserve(8);
  r.ring.commit(second);
  EXPECT_EQ(r.ring.consume([](const uint8_t*, size_t) {}), 0u);
  r.ring.abandon(first);
  EXPECT_EQ(r.ring.consume([](const uint8_t*, size_t) {}), 1u);
}

TEST(MpscRing, what_was_reserved_by_then_is_consumed_once_all_of_it_is_committed) {
  Ring r(1024);
  MpscRing& ring = r.ring;
  uint8_t* held_up = ring.reserve(8);
  ring.commit(ring.reserve(8));
  const uint64_t until = ring.reserved();
  const auto consume = [&] { return ring.consume([](const uint8_t*, size_t) {}); };
  EXPECT_EQ(consume(), 0U);
  EXPECT_FALSE(ring.has_consumed(until));
  ring.commit(held_up);
  (void)ring.reserve(8);  // later: it does not count
  EXPECT_EQ(consume(), 2U);
  EXPECT_TRUE(ring.has_consumed(until));
}

TEST(MpscRing, a_consumer_may_take_a_few_and_come_back_for_the_rest) {
  Ring r(1024);
  for (int i = 0; i < 5; ++i) r.ring.commit(r.ring.reserve(8));
  const auto nothing = [](const uint8_t*, size_t) {};
  EXPECT_EQ(r.ring.consume(nothing, 3), 3u);
  EXPECT_EQ(r.ring.consume(nothing, 3), 2u);
  EXPECT_TRUE(r.ring.empty());
}

TEST(MpscRing, records_larger_than_half_the_ring_are_refused) {
  Ring r(1024);
  EXPECT_EQ(r.ring.reserve(513), nullptr);
  EXPECT_EQ(r.ring.reserve(SIZE_MAX), nullptr);
}

TEST(MpscRing, many_producers_lose_nothing_and_keep_their_own_order) {
  constexpr int kProducers = 4;
  constexpr uint64_t kEach = 20'000;
  Ring r(4096);
  std::atomic<int> running{kProducers};
  std::vector<std::thread> producers;
  for (uint64_t id = 0; id < kProducers; ++id) {
    producers.emplace_back([&, id] {
      for (uint64_t i = 0; i < kEach; ++i) {
        const size_t words = 2 + (i * 7 + id) % 9;
        uint8_t* payload;
        while ((payload = r.ring.reserve(words * 8)) == nullptr) std::this_thread::yield();
        auto* out = reinterpret_cast<uint64_t*>(payload);
        out[0] = id;
        for (size_t w = 1; w < words; ++w) out[w] = i;
        r.ring.commit(payload);
      }
      running.fetch_sub(1);
    });
  }
  std::vector<uint64_t> next(kProducers, 0);
  uint64_t consumed = 0;
  const auto check = [&](const uint8_t* payload, size_t room) {
    const auto* in = reinterpret_cast<const uint64_t*>(payload);
    ASSERT_LT(in[0], static_cast<uint64_t>(kProducers));
    for (size_t w = 1; w < room / 8; ++w) ASSERT_EQ(in[w], next[in[0]]);
    ++next[in[0]];
    ++consumed;
  };
  while (running.load() > 0) {
    if (r.ring.consume(check) == 0) std::this_thread::yield();
  }
  r.ring.consume(check);
  for (auto& producer : producers) producer.join();
  EXPECT_EQ(consumed, kProducers * kEach);
  EXPECT_TRUE(r.ring.empty());
}

}  // namespace
}  // namespace tarsier
