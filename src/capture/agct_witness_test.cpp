#include "capture/agct_witness.h"

#include <gtest/gtest.h>

#include <vector>

namespace tarsier::capture {
namespace {

// Two methods with their ids, as a JVM keeps them.
int g_first, g_second;
void* g_ids[] = {&g_first, &g_second};

int32_t g_answer = 0;
void fake_agct(AgctTrace* trace, int32_t depth, void*) {
  trace->frame_count = g_answer;
  for (int32_t i = 0; i < g_answer && i < depth; ++i) trace->frames[i] = {10 + i, &g_ids[i % 2]};
}

struct Fixture {
  explicit Fixture(size_t testimonies)
      : memory(AgctWitness::memory_size(testimonies) / 8), witness(fake_agct, memory.data(), testimonies) {}
  std::vector<uint64_t> memory;
  AgctWitness witness;
};

TEST(AgctWitness, TellsMethodsInsteadOfTheirIds) {
  Fixture f(4);
  g_answer = 3;
  f.witness.ask(nullptr, 7, 1000, nullptr);
  AgctWitness::Testimony said;
  ASSERT_TRUE(f.witness.find(7, 1000, said));
  ASSERT_EQ(said.frames.size(), 3U);
  EXPECT_EQ(said.frames[0].method, &g_first);
  EXPECT_EQ(said.frames[1].method, &g_second);
  EXPECT_EQ(said.frames[2].bci, 12);
}

TEST(AgctWitness, KnowsEachSampleByItsThreadAndTime) {
  Fixture f(4);
  g_answer = 1;
  f.witness.ask(nullptr, 7, 1000, nullptr);
  g_answer = -5;
  f.witness.ask(nullptr, 8, 1000, nullptr);
  AgctWitness::Testimony said;
  EXPECT_FALSE(f.witness.find(9, 1000, said));
  EXPECT_FALSE(f.witness.find(7, 1001, said));
  ASSERT_TRUE(f.witness.find(8, 1000, said));
  EXPECT_EQ(said.result, -5);
  EXPECT_TRUE(said.frames.empty());
  f.witness.forget();
  EXPECT_FALSE(f.witness.find(8, 1000, said));
  EXPECT_TRUE(f.witness.find(7, 1000, said));
}

TEST(AgctWitness, OverwritesNothingThatWasNotRead) {
  Fixture f(2);
  g_answer = 1;
  for (uint64_t time = 1; time <= 3; ++time) f.witness.ask(nullptr, 7, time, nullptr);
  AgctWitness::Testimony said;
  EXPECT_TRUE(f.witness.find(7, 1, said));
  EXPECT_TRUE(f.witness.find(7, 2, said));
  EXPECT_FALSE(f.witness.find(7, 3, said));
}

}  // namespace
}  // namespace tarsier::capture
