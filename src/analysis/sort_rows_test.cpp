#include "analysis/sort_rows.h"

#include <gtest/gtest.h>

#include <random>
#include <tuple>

namespace tarsier::analysis {
namespace {

struct TestRow {
  int64_t begin_ns;
  uint32_t group, number;
  bool operator==(const TestRow&) const = default;
};

TEST(SortedRows, are_by_group_begin_and_what_decides_among_equals) {
  std::mt19937_64 random(3);
  for (const size_t groups : {1, 3, 500}) {
    for (const int64_t range : {int64_t{5}, int64_t{100'000}, INT64_MAX}) {
      std::vector<TestRow> rows;
      for (uint32_t i = 0; i < 3000; ++i) {
        const int64_t begin = static_cast<int64_t>(random() % static_cast<uint64_t>(range));
        rows.push_back({i % 3 == 0 ? -begin : begin, static_cast<uint32_t>(random() % groups), i * 7919 % 3000});
      }
      std::vector<TestRow> expected = rows;
      std::sort(expected.begin(), expected.end(), [](const TestRow& a, const TestRow& b) {
        return std::tie(a.group, a.begin_ns, a.number) < std::tie(b.group, b.begin_ns, b.number);
      });
      sort_rows(
          rows, [](const TestRow& row) { return row.group; },
          [](const TestRow& a, const TestRow& b) { return a.number < b.number; });
      EXPECT_TRUE(rows == expected) << groups << " groups, times up to " << range;
    }
  }
}

TEST(SortedRows, may_be_none) {
  std::vector<TestRow> rows;
  sort_rows(
      rows, [](const TestRow& row) { return row.group; }, [](const TestRow&, const TestRow&) { return false; });
  EXPECT_TRUE(rows.empty());
}

}  // namespace
}  // namespace tarsier::analysis
