#include "base/cycles.h"

#include <gmock/gmock.h>

#include <random>

namespace tarsier {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Graph = std::vector<size_t>;
constexpr size_t kNone = kPointsAtNobody;

TEST(FindCycles, AChainHasNone) {
  EXPECT_THAT(find_cycles(Graph{}), IsEmpty());
  EXPECT_THAT(find_cycles(Graph{1, 2, 3, kNone}), IsEmpty());
  EXPECT_THAT(find_cycles(Graph{kNone, 0, 0, 1}), IsEmpty());
}

TEST(FindCycles, WhatPointsBeyondTheEndPointsAtNobody) {
  EXPECT_THAT(find_cycles(Graph{1, 2, 7}), IsEmpty());
}

TEST(FindCycles, EachIsFoundOnceAndBeginsWithItsLowestNumber) {
  EXPECT_THAT(find_cycles(Graph{0}), ElementsAre(Graph{0}));
  EXPECT_THAT(find_cycles(Graph{2, 1, 3, 0}), ElementsAre(Graph{0, 2, 3}, Graph{1}));
  EXPECT_THAT(find_cycles(Graph{3, 2, 1, 4, 3}), ElementsAre(Graph{1, 2}, Graph{3, 4}));
}

TEST(FindCycles, WhoWaitsForAMemberIsNoMember) {
  EXPECT_THAT(find_cycles(Graph{1, 2, 1, 0, 3}), ElementsAre(Graph{1, 2}));
}

TEST(FindCycles, OfAnyGraphAreThoseThatFollowingTheArrowsComesBackTo) {
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    Graph next(1 + random() % 12);
    for (size_t& arrow : next) arrow = random() % 3 == 0 ? kNone : random() % next.size();
    std::vector<bool> in_cycle(next.size());
    for (const Graph& cycle : find_cycles(next)) {
      for (const size_t member : cycle) {
        EXPECT_FALSE(in_cycle[member]);
        in_cycle[member] = true;
      }
    }
    for (size_t i = 0; i < next.size(); ++i) {
      size_t at = i;
      for (size_t steps = 0; steps < next.size() && at != kNone && (steps == 0 || at != i); ++steps) at = next[at];
      EXPECT_EQ(in_cycle[i], at == i) << "member " << i;
    }
  }
}

}  // namespace
}  // namespace tarsier
