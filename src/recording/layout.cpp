#include "recording/layout.h"

#include <algorithm>
#include <utility>

#include "recording/stored_string.h"

namespace tarsier::recording {
namespace {

// JFR's own types stay far below all of these.
constexpr int kDeepestStruct = 8;
constexpr size_t kMostFields = 1024;
constexpr size_t kMostFieldsOfAll = 1 << 18;
constexpr int kDeepestArray = 16;

struct Primitive {
  std::string_view name;
  Step step;
  uint8_t unused_bits = 0;
};
constexpr Primitive kPrimitives[] = {
    {"boolean", Step::kByte}, {"byte", Step::kByte},      {"short", Step::kSigned, 48},
    {"char", Step::kChar},    {"int", Step::kSigned, 32}, {"long", Step::kSigned},
    {"float", Step::kFloat},  {"double", Step::kDouble},  {"java.lang.String", Step::kString},
};

const Primitive* primitive(std::string_view name) {
  const auto* const it =
      std::find_if(std::begin(kPrimitives), std::end(kPrimitives), [&](const Primitive& p) { return p.name == name; });
  return it == std::end(kPrimitives) ? nullptr : it;
}

bool is_varint(Step step) {
  return step >= Step::kSigned && step <= Step::kTimespan;
}

Step with_ticks(Step step, Ticks ticks) {
  if (step != Step::kSigned || ticks == Ticks::kNone) return step;
  return ticks == Ticks::kTimestamp ? Step::kTimestamp : Step::kTimespan;
}

}  // namespace

int32_t Layout::find(std::string_view path) const {
  for (size_t i = 0; i < fields.size(); ++i) {
    std::string_view rest = path;
    std::string_view name = fields[i].name;
    int32_t within = fields[i].within;
    while (rest.ends_with(name)) {
      rest.remove_suffix(name.size());
      if (within < 0) {
        if (rest.empty()) return static_cast<int32_t>(i);
        break;
      }
      if (!rest.ends_with('.')) break;
      rest.remove_suffix(1);
      name = structs[static_cast<size_t>(within)].name;
      within = structs[static_cast<size_t>(within)].within;
    }
  }
  return -1;
}

int32_t Layouts::of_type(int32_t type) {
  if (type < 0) return -1;
  int32_t& known = by_type_[static_cast<size_t>(type)];
  if (known != kUnknown) return known;
  // Reserved before it is compiled: an array of the type may lie within the type.
  const auto index = static_cast<int32_t>(layouts_.size());
  known = index;
  layouts_.emplace_back();
  Layout layout;
  const bool ok = add_fields(layout, type, -1, 0) && total_fields_ + layout.fields.size() <= kMostFieldsOfAll;
  if (!ok) return by_type_[static_cast<size_t>(type)] = -1;
  total_fields_ += layout.fields.size();
  layout.only_varints =
      std::all_of(layout.fields.begin(), layout.fields.end(), [](const LayoutField& f) { return is_varint(f.step); });
  layouts_[static_cast<size_t>(index)] = std::move(layout);
  return index;
}

bool Layouts::add_fields(Layout& layout, int32_t type, int32_t within, int depth) {
  const TypeEntry& entry = types_.types()[static_cast<size_t>(type)];
  if (const Primitive* p = primitive(entry.name); p && entry.fields.empty()) {
    layout.fields.push_back({{}, within, p->step, p->unused_bits, type, -1});
    return true;
  }
  return depth <= kDeepestStruct && std::all_of(entry.fields.begin(), entry.fields.end(), [&](const TypeField& field) {
           return add_field(layout, field, within, depth);
         });
}

bool Layouts::add_field(Layout& layout, const TypeField& field, int32_t within, int depth) {
  const int32_t type = types_.index_of(field.type_id);
  if (type < 0 || layout.fields.size() >= kMostFields || layout.structs.size() >= kMostFields) return false;
  const TypeEntry& entry = types_.types()[static_cast<size_t>(type)];
  if (field.is_array) {
    const int32_t element = element_layout(field, type);
    layout.fields.push_back({field.name, within, Step::kArray, 0, type, element});
    return element >= 0;
  }
  if (field.is_constant) {
    layout.fields.push_back({field.name, within, Step::kConstant, 0, type, -1});
    return true;
  }
  if (const Primitive* p = primitive(entry.name); p && entry.fields.empty()) {
    layout.fields.push_back({field.name, within, with_ticks(p->step, field.ticks), p->unused_bits, type, -1});
    return true;
  }
  layout.structs.push_back({field.name, within});
  return add_fields(layout, type, static_cast<int32_t>(layout.structs.size() - 1), depth + 1);
}

int32_t Layouts::element_layout(const TypeField& field, int32_t type) {
  if (!field.is_constant) return of_type(type);
  if (constant_element_ < 0) {
    Layout layout;
    layout.fields.push_back({{}, -1, Step::kConstant, 0, -1, -1});
    layout.only_varints = true;
    layouts_.push_back(std::move(layout));
    constant_element_ = static_cast<int32_t>(layouts_.size() - 1);
  }
  return constant_element_;
}

const uint8_t* Layouts::skip(const Layout& layout, const uint8_t* p, const uint8_t* end, int depth) const {
  if (layout.only_varints) return skip_varints(p, end, layout.fields.size());
  for (const LayoutField& field : layout.fields) {
    p = skip(field, p, end, depth);
    if (!p) return nullptr;
  }
  return p;
}

const uint8_t* Layouts::skip(const LayoutField& field, const uint8_t* p, const uint8_t* end, int depth) const {
  uint64_t count = 0;
  switch (field.step) {
    case Step::kByte:
      return p < end ? p + 1 : nullptr;
    case Step::kSigned:
    case Step::kChar:
    case Step::kConstant:
    case Step::kTimestamp:
    case Step::kTimespan:
      return fast_varint(p, end, count);
    case Step::kFloat:
      return end - p >= 4 ? p + 4 : nullptr;
    case Step::kDouble:
      return end - p >= 8 ? p + 8 : nullptr;
    case Step::kString: {
      StoredString text;
      return read_stored_string(p, end, text);
    }
    case Step::kArray:
      break;
  }
  const Layout& element = at(field.element);
  p = fast_varint(p, end, count);
  // Elements without fields take no bytes, all others at least one: more elements than bytes there can't be.
  if (!p || element.fields.empty()) return p;
  if (depth >= kDeepestArray || count > static_cast<uint64_t>(end - p)) return nullptr;
  if (element.fields.size() == 1 && element.fields[0].step == Step::kByte) return p + count;
  if (element.only_varints) return skip_varints(p, end, count * element.fields.size());
  for (; count > 0; --count) {
    p = skip(element, p, end, depth + 1);
    if (!p) return nullptr;
  }
  return p;
}

}  // namespace tarsier::recording
