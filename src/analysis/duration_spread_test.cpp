#include "analysis/duration_spread.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace tarsier::analysis {
namespace {

// Few are kept as they are, more are counted in bytes, and very many in words.
TEST(DurationSpread, knows_percentiles_of_few_and_of_many) {
  for (const size_t count : {1, 16, 17, 300, 5'000, 200'000}) {
    std::mt19937_64 random(count);
    DurationSpread spread;
    std::vector<int64_t> all;
    for (size_t i = 0; i < count; ++i) {
      all.push_back(static_cast<int64_t>(random() % (random() % 100 == 0 ? 50'000'000 : 4'000)));
      spread.add(all.back());
    }
    std::sort(all.begin(), all.end());
    EXPECT_EQ(spread.count(), count);
    EXPECT_EQ(spread.max(), all.back());
    for (const double quantile : {0.0, 0.5, 0.95, 0.999, 1.0}) {
      const auto rank = static_cast<size_t>(std::ceil(quantile * static_cast<double>(count)));
      const auto exact = static_cast<double>(all[std::max<size_t>(rank, 1) - 1]);
      EXPECT_NEAR(static_cast<double>(spread.percentile(quantile)), exact, exact * 0.03) << quantile << " of " << count;
    }
  }
}

}  // namespace
}  // namespace tarsier::analysis
