// Reads what ColumnWriter has written, for tests: the mirror of ui/src/data/columns.ts. Throws if anything is wrong.
#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/varint.h"

namespace tarsier::exporting {

class ColumnsForTest {
 public:
  explicit ColumnsForTest(const std::string& bytes) : at_(reinterpret_cast<const uint8_t*>(bytes.data())) {
    end_ = at_ + bytes.size();
    const std::string magic = "tarsier-columns-1\n";
    check(text(magic.size()) == magic, "magic");
    for (int64_t left = number(); left > 0; --left) read_column();
    check(at_ == end_, "end");
  }

  // Empty if there is none, as on the page.
  std::vector<int64_t> numbers(const std::string& name) const {
    const auto found = numbers_.find(name);
    return found == numbers_.end() ? std::vector<int64_t>() : found->second;
  }
  std::vector<std::string> texts(const std::string& name) const {
    const auto found = texts_.find(name);
    return found == texts_.end() ? std::vector<std::string>() : found->second;
  }
  [[nodiscard]] bool has(const std::string& name) const { return numbers_.contains(name) || texts_.contains(name); }

 private:
  static void check(bool right, const std::string& what) {
    if (!right) throw std::runtime_error("columns: wrong " + what);
  }
  int64_t number() {
    uint64_t value = 0;
    const uint8_t* next = get_varint(at_, end_, value);
    check(next != nullptr, "number");
    at_ = next;
    check(value < uint64_t{1} << 53, "number that the page can't count");
    return static_cast<int64_t>(value);
  }
  std::string text(size_t length) {
    check(length <= static_cast<size_t>(end_ - at_), "length");
    const std::string text(reinterpret_cast<const char*>(at_), length);
    at_ += length;
    return text;
  }

  void read_column() {
    const std::string name = text(static_cast<size_t>(number()));
    const int64_t kind = number();
    const auto rows = static_cast<size_t>(number());
    const int64_t length = number();
    const uint8_t* const column_end = at_ + length;
    check(column_end <= end_, "length of " + name);
    check(!has(name), name + ", there twice");
    if (kind == 2) {
      std::vector<size_t> lengths(rows);
      for (size_t& each : lengths) each = static_cast<size_t>(number());
      for (const size_t each : lengths) texts_[name].push_back(text(each));
      texts_.try_emplace(name);
    } else {
      std::vector<int64_t>& into = numbers_[name];
      into.resize(rows);
      if (kind == 3) {
        int64_t row = -1;
        while (at_ < column_end) {
          row += number();
          into.at(static_cast<size_t>(row)) = number();
        }
      }
      int64_t last = 0;
      for (size_t i = 0; kind != 3 && i < rows; ++i) {
        const int64_t value = number();
        last += value % 2 == 0 ? value / 2 : -(value + 1) / 2;
        into[i] = kind == 1 ? last : value;
      }
    }
    check(at_ == column_end, "end of " + name);
  }

  const uint8_t* at_;
  const uint8_t* end_;
  std::map<std::string, std::vector<int64_t>> numbers_;
  std::map<std::string, std::vector<std::string>> texts_;
};

}  // namespace tarsier::exporting
