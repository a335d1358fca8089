// For searches that follow each other and whose answers lie near each other, in a range that is too long for the cache.
#pragma once

#include <algorithm>
#include <cstddef>

namespace tarsier::analysis {

// The index of the first element of a vector or span that `before` is false of, where it is true of all that come
// earlier: as std::partition_point() says, but begun at `near`.
template <class Elements, class Before>
size_t partition_near(const Elements& all, size_t near, Before before) {
  size_t begin = std::min(near, all.size()), end = begin;
  if (end < all.size() && before(all[end])) {
    for (size_t step = 1; end < all.size() && before(all[end]); step *= 2) {
      begin = end + 1;
      end = std::min(all.size(), end + step);
    }
  } else {
    for (size_t step = 1; begin > 0 && !before(all[begin - 1]); step *= 2) {
      end = begin - 1;
      begin -= std::min(begin, step);
    }
  }
  const auto at = [&](size_t i) { return all.begin() + static_cast<std::ptrdiff_t>(i); };
  return static_cast<size_t>(std::partition_point(at(begin), at(end), before) - all.begin());
}

}  // namespace tarsier::analysis
