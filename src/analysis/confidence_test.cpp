#include "analysis/confidence.h"

#include <gtest/gtest.h>

namespace tarsier::analysis {
namespace {

// Newcombe, Statistics in Medicine 17 (1998), table I, method 3 (score, without continuity correction).
TEST(Wilson, agrees_with_published_intervals) {
  struct Case {
    double hits, n, low, high;
  };
  for (const Case& c : {Case{81, 263, 0.2553, 0.3662}, Case{15, 148, 0.0624, 0.1605}, Case{0, 20, 0.0, 0.1611},
                        Case{1, 29, 0.0061, 0.1718}}) {
    const Interval interval = wilson_95(c.hits / c.n, c.n);
    EXPECT_NEAR(interval.low, c.low, 0.00006) << c.hits << "/" << c.n;
    EXPECT_NEAR(interval.high, c.high, 0.00006) << c.hits << "/" << c.n;
  }
}

TEST(Wilson, stays_within_0_and_1_and_holds_the_estimate) {
  for (const double n : {0.5, 1.0, 10.0, 1e9}) {
    for (const double share : {0.0, 1e-12, 0.3, 1.0 - 1e-12, 1.0}) {
      const Interval interval = wilson_95(share, n);
      EXPECT_LE(0, interval.low);
      EXPECT_LE(interval.low, share);
      EXPECT_LE(share, interval.high);
      EXPECT_LE(interval.high, 1);
      EXPECT_LT(interval.low, interval.high);
    }
  }
}

TEST(Wilson, without_samples_nothing_is_known) {
  const Interval interval = wilson_95(0.5, 0);
  EXPECT_EQ(interval.low, 0);
  EXPECT_EQ(interval.high, 1);
}

}  // namespace
}  // namespace tarsier::analysis
