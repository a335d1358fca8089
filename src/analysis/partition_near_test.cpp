#include "analysis/partition_near.h"

#include <gtest/gtest.h>

namespace tarsier::analysis {
namespace {

TEST(PartitionNear, FindsTheSameWhereverItBegins) {
  for (size_t size = 0; size < 70; ++size) {
    std::vector<int> all;
    for (size_t i = 0; i < size; ++i) all.push_back(static_cast<int>(i) / 3);
    for (int wanted = -1; wanted <= static_cast<int>(size); ++wanted) {
      const auto before = [&](int each) { return each < wanted; };
      const auto expected = std::partition_point(all.begin(), all.end(), before) - all.begin();
      for (size_t near = 0; near <= size + 2; ++near) {
        ASSERT_EQ(partition_near(all, near, before), static_cast<size_t>(expected))
            << size << " " << wanted << " " << near;
      }
    }
  }
}

TEST(PartitionNear, LooksOnlyAtWhatIsNear) {
  const std::vector<int> all(1'000'000, 0);
  size_t looks = 0;
  EXPECT_EQ(partition_near(all, all.size() - 3, [&](int) { return ++looks > 0; }), all.size());
  EXPECT_LT(looks, 10U);
}

}  // namespace
}  // namespace tarsier::analysis
