#include "agent/engines/cost_budget.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tarsier::agent {
namespace {

// Half a CPU is used, all the time.
constexpr Nanos kStep = millis(200);

TEST(CostBudgetTest, all_are_kept_that_cost_no_more_than_they_may) {
  CostBudget budget(0.04);
  for (int i = 1; i < 50; ++i) EXPECT_EQ(budget.update(millis(7) * i, millis(100) * i, kStep * i), 1.0);
}

TEST(CostBudgetTest, as_many_as_they_may_cost) {
  for (const Nanos process : {millis(100), millis(400)}) {
    CostBudget budget(0.04);
    Nanos own;
    double kept = 1;
    constexpr int kSteps = 400;
    for (int i = 1; i <= kSteps; ++i) {
      own += Nanos(static_cast<int64_t>(80e6 * kept));  // what all of them would take
      kept = budget.update(own, process * i, kStep * i);
    }
    const double base = static_cast<double>((std::max(process, kStep) * kSteps).count);
    EXPECT_NEAR(static_cast<double>(own.count) / base, 0.04, 0.006);
  }
}

TEST(CostBudgetTest, what_was_not_used_is_there_for_a_burst) {
  CostBudget budget(0.04);
  EXPECT_EQ(budget.update(millis(60), millis(200), kStep), 1.0);
  EXPECT_EQ(budget.update(millis(100), millis(400), kStep * 2), 1.0);
  EXPECT_LT(budget.update(millis(250), millis(600), kStep * 3), 0.2);
}

TEST(CostBudgetTest, more_again_when_there_are_fewer) {
  CostBudget budget(0.04);
  EXPECT_LT(budget.update(millis(400), millis(200), kStep), 0.2);
  double kept = 0;
  for (int i = 2; i < 40; ++i) kept = budget.update(millis(400), millis(200) * i, kStep * i);
  EXPECT_EQ(kept, 1.0);
}

TEST(CostBudgetTest, never_none_and_without_a_budget_all) {
  CostBudget tight(0.0001), none(0);
  double kept = 1;
  for (int i = 1; i < 20; ++i) {
    kept = tight.update(millis(90) * i, millis(100) * i, kStep * i);
    EXPECT_EQ(none.update(millis(90) * i, millis(100) * i, kStep * i), 1.0);
  }
  EXPECT_EQ(kept, CostBudget::kFewest);
}

}  // namespace
}  // namespace tarsier::agent
