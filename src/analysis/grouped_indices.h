// The elements of a table by some small number that each of them has: their indices, one list after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tarsier::analysis {

class GroupedIndices {
 public:
  // `group_of(element)` is below `groups`, or the element is left out. Within a group the order stays as it was.
  template <class Element, class GroupOf>
  GroupedIndices(const std::vector<Element>& elements, size_t groups, GroupOf group_of) : starts_(groups + 1, 0) {
    for (const Element& element : elements) {
      if (const size_t group = group_of(element); group < groups) ++starts_[group + 1];
    }
    for (size_t i = 0; i < groups; ++i) starts_[i + 1] += starts_[i];
    indices_.resize(starts_[groups]);
    std::vector<size_t> next(starts_.begin(), starts_.end() - 1);
    for (size_t i = 0; i < elements.size(); ++i) {
      if (const size_t group = group_of(elements[i]); group < groups)
        indices_[next[group]++] = static_cast<uint32_t>(i);
    }
  }

  [[nodiscard]] std::span<const uint32_t> of(size_t group) const {
    return {indices_.data() + starts_[group], starts_[group + 1] - starts_[group]};
  }
  [[nodiscard]] std::span<uint32_t> of(size_t group) {
    return {indices_.data() + starts_[group], starts_[group + 1] - starts_[group]};
  }

 private:
  std::vector<size_t> starts_;
  std::vector<uint32_t> indices_;
};

}  // namespace tarsier::analysis
