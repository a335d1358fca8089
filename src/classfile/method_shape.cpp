#include "classfile/method_shape.h"

namespace tarsier::classfile {
namespace {

// Takes one type off the front.
std::optional<ValueKind> take_type(std::string_view& text) {
  size_t dimensions = 0;
  while (dimensions < text.size() && text[dimensions] == '[') ++dimensions;
  text.remove_prefix(dimensions);
  if (text.empty()) return std::nullopt;
  const char letter = text.front();
  text.remove_prefix(1);
  ValueKind kind{};
  switch (letter) {
    case 'Z':
    case 'B':
    case 'C':
    case 'S':
    case 'I':
      kind = ValueKind::kInt;
      break;
    case 'J':
      kind = ValueKind::kLong;
      break;
    case 'F':
      kind = ValueKind::kFloat;
      break;
    case 'D':
      kind = ValueKind::kDouble;
      break;
    case 'L': {
      const size_t end = text.find(';');
      if (end == std::string_view::npos) return std::nullopt;
      text.remove_prefix(end + 1);
      kind = ValueKind::kReference;
      break;
    }
    default:
      return std::nullopt;
  }
  return dimensions > 0 ? ValueKind::kReference : kind;
}

}  // namespace

std::optional<ValueKind> value_kind(std::string_view descriptor) {
  const auto kind = take_type(descriptor);
  return descriptor.empty() ? kind : std::nullopt;
}

std::optional<MethodShape> method_shape(std::string_view descriptor, bool is_static) {
  if (!descriptor.starts_with('(')) return std::nullopt;
  descriptor.remove_prefix(1);
  MethodShape shape;
  uint32_t variable = is_static ? 0 : 1;
  while (!descriptor.starts_with(')')) {
    const auto kind = take_type(descriptor);
    constexpr uint32_t kMostVariables = 256;
    if (!kind || variable >= kMostVariables) return std::nullopt;
    shape.parameters.push_back({*kind, static_cast<uint16_t>(variable)});
    variable += slots_of(*kind);
  }
  descriptor.remove_prefix(1);
  const auto result = descriptor == "V" ? std::optional(ValueKind::kNothing) : value_kind(descriptor);
  if (!result) return std::nullopt;
  shape.result = *result;
  return shape;
}

}  // namespace tarsier::classfile
