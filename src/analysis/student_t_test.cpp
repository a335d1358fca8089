#include "analysis/student_t.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tarsier::analysis {
namespace {

TEST(StudentT, agrees_with_the_printed_tables) {
  EXPECT_NEAR(two_sided_p(12.7062, 1), 0.05, 1e-5);
  EXPECT_NEAR(two_sided_p(4.3027, 2), 0.05, 1e-5);
  EXPECT_NEAR(two_sided_p(2.2281, 10), 0.05, 1e-5);
  EXPECT_NEAR(two_sided_p(2.7500, 30), 0.01, 1e-5);
  EXPECT_NEAR(two_sided_p(1.9600, 1e7), 0.05, 1e-5);
  EXPECT_NEAR(two_sided_p(1, 1), 0.5, 1e-12);
  EXPECT_NEAR(t_of_95(7), 2.3646, 1e-4);
  EXPECT_NEAR(t_of_95(1), 12.7062, 1e-3);
}

TEST(StudentT, is_symmetric_falls_and_stays_within_0_and_1) {
  EXPECT_EQ(two_sided_p(0, 5), 1);
  EXPECT_EQ(two_sided_p(INFINITY, 5), 0);
  for (const double freedom : {0.5, 1.0, 7.0, 63.0, 1e5}) {
    double before = 1.0 + 1e-12;
    for (double t = 0; t < 50; t += 0.5) {
      const double p = two_sided_p(t, freedom);
      EXPECT_EQ(p, two_sided_p(-t, freedom));
      EXPECT_LE(p, before);
      EXPECT_GE(p, 0);
      before = p;
    }
  }
}

}  // namespace
}  // namespace tarsier::analysis
