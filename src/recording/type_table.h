// The types of a chunk, parsed from its metadata event.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"

namespace tarsier::recording {

enum class Ticks : uint8_t { kNone, kTimestamp, kTimespan };

struct TypeField {
  std::string_view name;
  int64_t type_id = -1;
  bool is_array = false;
  bool is_constant = false;
  Ticks ticks = Ticks::kNone;
  int64_t ticks_annotation = -1;  // the type of the annotation with the value TICKS
};

struct TypeEntry {
  int64_t id = -1;
  std::string_view name;
  bool is_event = false;
  std::vector<TypeField> fields;
};

class TypeTable {
 public:
  // `event` is the whole metadata event.
  static Result<TypeTable> parse(std::span<const uint8_t> event);

  [[nodiscard]] std::span<const TypeEntry> types() const { return types_; }
  [[nodiscard]] int32_t index_of(int64_t id) const {
    const auto it = by_id_.find(id);
    return it == by_id_.end() ? -1 : it->second;
  }
  [[nodiscard]] int32_t index_of(std::string_view name) const;

 private:
  class Parser;
  std::vector<std::string> strings_;  // all names are views of these
  std::vector<TypeEntry> types_;
  std::unordered_map<int64_t, int32_t> by_id_;
};

}  // namespace tarsier::recording
