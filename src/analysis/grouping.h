// The indices of elements by some number that each of them has, one list after the other. Made again and again over the
// same range of numbers: what it costs depends on the elements, not on the range.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tarsier::analysis {

// `Item` is constructed from what add() gets.
template <class Item>
class Grouping {
 public:
  // First all of them are counted, then all are put in, in the same order.
  void start(size_t range) {
    if (slot_of_.size() < range) slot_of_.resize(range, kNone);
    for (const uint32_t group : groups_) slot_of_[group] = kNone;
    groups_.clear();
    starts_.assign(1, 0);
  }
  void count(uint32_t group) {
    uint32_t& slot = slot_of_[group];
    if (slot == kNone) {
      slot = static_cast<uint32_t>(groups_.size());
      groups_.push_back(group);
      starts_.push_back(0);
    }
    ++starts_[slot + 1];
  }
  void counted() {
    for (size_t i = 1; i < starts_.size(); ++i) starts_[i] += starts_[i - 1];
    items_.resize(starts_.back());
    next_.assign(starts_.begin(), starts_.end() - 1);
  }
  void put(uint32_t group, const Item& item) { items_[next_[slot_of_[group]]++] = item; }

  // The groups that there are, in the order in which they were seen first.
  [[nodiscard]] std::span<const uint32_t> groups() const { return groups_; }
  // By position in groups().
  [[nodiscard]] std::span<Item> at(size_t slot) {
    return {items_.data() + starts_[slot], starts_[slot + 1] - starts_[slot]};
  }
  // All of them, one group after the other.
  [[nodiscard]] std::span<const Item> items() const { return items_; }
  // By number; empty if there are none.
  [[nodiscard]] std::span<Item> of(uint32_t group) {
    if (group >= slot_of_.size() || slot_of_[group] == kNone) return {};
    return at(slot_of_[group]);
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  std::vector<uint32_t> slot_of_;  // by number
  std::vector<uint32_t> groups_;
  std::vector<size_t> starts_, next_;  // by slot
  std::vector<Item> items_;
};

}  // namespace tarsier::analysis
