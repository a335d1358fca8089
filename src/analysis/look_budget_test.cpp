#include "analysis/look_budget.h"

#include <gtest/gtest.h>

namespace tarsier::analysis {
namespace {

constexpr size_t kMega = 1 << 20;

TEST(LookBudget, WhoIsCheapMayReadAll) {
  LookBudget budget(0.05, 64 * kMega);
  EXPECT_EQ(budget.bytes(), 2 * kMega);
  budget.looked(kMega, millis(2), seconds(2));
  EXPECT_GT(budget.bytes(), 40 * kMega);
  budget.looked(0, Nanos(0), seconds(2));
  EXPECT_EQ(budget.bytes(), 64 * kMega);
}

TEST(LookBudget, WhoIsDearReadsAsMuchAsIsGranted) {
  LookBudget budget(0.05, 64 * kMega);
  budget.looked(10 * kMega, millis(400), seconds(2));  // four times what is granted
  EXPECT_NEAR(static_cast<double>(budget.bytes()), 2.5 * kMega, 1000);
  budget.looked(budget.bytes(), millis(100), seconds(2));
  EXPECT_NEAR(static_cast<double>(budget.bytes()), 2.5 * kMega, 1000);
}

TEST(LookBudget, SomethingIsAlwaysRead) {
  LookBudget budget(0.05, 64 * kMega);
  budget.looked(kMega, seconds(100), seconds(2));
  EXPECT_EQ(budget.bytes(), 256U << 10);
}

}  // namespace
}  // namespace tarsier::analysis
