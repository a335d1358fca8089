// Sorts rows that have a group and a begin, by both: millions of them in no order, of which few begin at the same time.
// By counting, since comparing them would take ten times as long, and with a few bytes for each, since rows are long.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace tarsier::analysis {

// What is sorted in the place of a row.
struct RowKey {
  uint64_t begin;
  uint32_t row;
};

// By `begin`. `room` is used meanwhile.
inline void sort_keys(std::vector<RowKey>& keys, std::vector<RowKey>& room) {
  const auto before = [](const RowKey& a, const RowKey& b) { return a.begin < b.begin; };
  if (std::is_sorted(keys.begin(), keys.end(), before)) return;
  constexpr size_t kFew = 64;
  if (keys.size() < kFew) return std::sort(keys.begin(), keys.end(), before);
  room.resize(keys.size());
  const auto [first, last] = std::minmax_element(keys.begin(), keys.end(), before);
  const uint64_t smallest = first->begin;
  const auto bits = static_cast<int>(std::bit_width(last->begin - smallest));
  constexpr int kDigit = 8;
  for (int shift = 0; shift < bits; shift += kDigit) {
    const auto digit = [&](const RowKey& key) { return ((key.begin - smallest) >> shift) & ((1U << kDigit) - 1); };
    std::array<uint32_t, size_t{1} << kDigit> next{};
    for (const RowKey& key : keys) ++next[digit(key)];
    for (uint32_t sum = 0; uint32_t & at : next) sum += std::exchange(at, sum);
    for (const RowKey& key : keys) room[next[digit(key)]++] = key;
    keys.swap(room);
  }
}

// Brings rows of a group together; returns where each group ends. In their place, one exchange for each row.
template <class Row, class GroupOf>
std::vector<size_t> bring_together(std::vector<Row>& rows, GroupOf group_of) {
  std::vector<size_t> next;  // where the next row of a group goes
  for (const Row& row : rows) {
    const size_t group = group_of(row);
    if (group >= next.size()) next.resize(group + 1);
    ++next[group];
  }
  std::vector<size_t> ends;
  for (size_t sum = 0; size_t & at : next) {
    sum += std::exchange(at, sum);
    ends.push_back(sum);
  }
  for (size_t group = 0; group < ends.size(); ++group) {
    for (size_t& at = next[group]; at < ends[group];) {
      const size_t other = group_of(rows[at]);
      if (other != group) {
        std::swap(rows[at], rows[next[other]]);
        // The group's next place is looked at when its next row is found, some time later.
        __builtin_prefetch(rows.data() + next[other] + 2);
      }
      ++next[other];
    }
  }
  return ends;
}

// `group_of(row)`: a small number. `tie(a, b)`: the order of two of a group that begin at the same time.
template <class Row, class GroupOf, class Tie>
void sort_rows(std::vector<Row>& rows, GroupOf group_of, Tie tie) {
  std::vector<RowKey> keys, room;
  std::vector<Row> sorted;
  size_t begin = 0;
  for (const size_t end : bring_together(rows, group_of)) {
    const auto group = std::span(rows).subspan(begin, end - begin);
    keys.clear();
    for (uint32_t i = 0; i < group.size(); ++i) {
      // So that negative ones come first.
      keys.push_back({static_cast<uint64_t>(group[i].begin_ns) ^ (uint64_t{1} << 63), i});
    }
    sort_keys(keys, room);
    for (size_t i = 0, after = 0; i < keys.size(); i = after) {
      for (after = i + 1; after < keys.size() && keys[after].begin == keys[i].begin;) ++after;
      if (after == i + 1) continue;
      const auto equals = std::span(keys).subspan(i, after - i);
      std::sort(equals.begin(), equals.end(),
                [&](const RowKey& a, const RowKey& b) { return tie(group[a.row], group[b.row]); });
    }
    sorted.clear();
    for (const RowKey& key : keys) sorted.push_back(group[key.row]);
    std::copy(sorted.begin(), sorted.end(), group.begin());
    begin = end;
  }
}

}  // namespace tarsier::analysis
