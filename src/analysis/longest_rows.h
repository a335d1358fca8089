// Rows that last from begin_ns to end_ns, as many as there is room for: when it is full the shorter half goes, so that
// most of the time stays. How much went is known.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace tarsier::analysis {

template <class Row>
class LongestRows {
 public:
  explicit LongestRows(size_t most) : most_(std::max<size_t>(most, 2)) {}

  // Is there room for a row of this length? Else it counts as left out.
  bool wants(int64_t length) {
    if (length >= shortest_) return true;
    left_out_ns_ += length;
    return false;
  }
  // One that is wanted, to be filled in where it is: a copy of what was written just before is slow.
  Row& add() {
    if (rows_.size() == most_) drop_shorter_half();
    return rows_.emplace_back();
  }

  [[nodiscard]] int64_t left_out_ns() const { return left_out_ns_; }
  [[nodiscard]] std::vector<Row> take() { return std::move(rows_); }

 private:
  static int64_t length_of(const Row& row) { return row.end_ns - row.begin_ns; }

  void drop_shorter_half() {
    const auto middle = rows_.begin() + static_cast<std::ptrdiff_t>(rows_.size() / 2);
    std::nth_element(rows_.begin(), middle, rows_.end(),
                     [](const Row& a, const Row& b) { return length_of(a) > length_of(b); });
    shortest_ = std::max(shortest_, length_of(*middle));
    for (auto row = middle; row != rows_.end(); ++row) left_out_ns_ += length_of(*row);
    rows_.erase(middle, rows_.end());
  }

  size_t most_;
  std::vector<Row> rows_;
  int64_t shortest_ = 0;
  int64_t left_out_ns_ = 0;
};

}  // namespace tarsier::analysis
