// Cycles in a graph in which everybody points at one other at most: threads that wait for one another.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tarsier {

constexpr size_t kPointsAtNobody = SIZE_MAX;

// Each cycle once, in the order of its arrows, beginning with its lowest number; cycles by that number. What points
// beyond the end points at nobody.
inline std::vector<std::vector<size_t>> find_cycles(std::span<const size_t> next) {
  std::vector<std::vector<size_t>> cycles;
  std::vector<size_t> walked_from(next.size(), kPointsAtNobody);  // the start of the walk that came by first
  for (size_t start = 0; start < next.size(); ++start) {
    size_t at = start;
    while (at < next.size() && walked_from[at] == kPointsAtNobody) {
      walked_from[at] = start;
      at = next[at];
    }
    if (at >= next.size() || walked_from[at] != start) continue;  // an end, or what an earlier walk has seen
    std::vector<size_t> cycle;
    for (size_t member = at; cycle.empty() || member != at; member = next[member]) cycle.push_back(member);
    std::rotate(cycle.begin(), std::min_element(cycle.begin(), cycle.end()), cycle.end());
    cycles.push_back(std::move(cycle));
  }
  std::sort(cycles.begin(), cycles.end());
  return cycles;
}

}  // namespace tarsier
