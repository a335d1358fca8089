// What the descriptor of a method says: the local variables of its parameters, and what it returns.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace tarsier::classfile {

// As the virtual machine keeps values: booleans, bytes, chars and shorts are ints.
enum class ValueKind : uint8_t { kInt, kLong, kFloat, kDouble, kReference, kNothing };

constexpr uint16_t slots_of(ValueKind kind) {
  return kind == ValueKind::kNothing ? 0 : kind == ValueKind::kLong || kind == ValueKind::kDouble ? 2 : 1;
}

// Of a descriptor that is nothing but one type; nothing: it is none.
std::optional<ValueKind> value_kind(std::string_view descriptor);

struct Parameter {
  ValueKind kind{};
  uint16_t variable = 0;  // its number
};

struct MethodShape {
  std::vector<Parameter> parameters;
  ValueKind result{};
};
std::optional<MethodShape> method_shape(std::string_view descriptor, bool is_static);

}  // namespace tarsier::classfile
