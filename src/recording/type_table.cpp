#include "recording/type_table.h"

#include <algorithm>
#include <charconv>

#include "recording/decode.h"
#include "recording/stored_string.h"

namespace tarsier::recording {
namespace {

constexpr int kDeepestElement = 16;

int64_t number_in(std::string_view text) {
  int64_t value = -1;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

// Walks the tree of elements once and keeps what decoding needs; each element costs at least three bytes of the file,
// so nothing here can outgrow it.
class TypeTable::Parser {
 public:
  Parser(TypeTable& out, const uint8_t* p, const uint8_t* end) : out_(out), p_(p), end_(end) {}

  bool run() {
    uint64_t start, duration, metadata_id;
    return number(start) && number(duration) && number(metadata_id) && strings() && element(0);
  }

 private:
  bool number(uint64_t& value) {
    p_ = p_ ? get_varint(p_, end_, value) : nullptr;
    return p_ != nullptr;
  }

  bool strings() {
    uint64_t count = 0;
    if (!number(count) || count > static_cast<uint64_t>(end_ - p_)) return false;
    out_.strings_.reserve(count);
    for (; count > 0; --count) {
      StoredString text;
      p_ = read_stored_string(p_, end_, text);
      if (!p_) return false;
      append_text(out_.strings_.emplace_back(), text);
    }
    return true;
  }

  bool name(std::string_view& out) {
    uint64_t index = 0;
    if (!number(index) || index >= out_.strings_.size()) return false;
    out = out_.strings_[index];
    return true;
  }

  struct Attributes {
    std::string_view name, id, type_id, super, dimension, value;
    bool is_constant = false;
  };

  bool attributes(Attributes& out) {
    uint64_t count = 0;
    if (!number(count)) return false;
    for (; count > 0; --count) {
      std::string_view key, value;
      if (!name(key) || !name(value)) return false;
      if (key == "name") out.name = value;
      if (key == "id") out.id = value;
      if (key == "class") out.type_id = value;
      if (key == "superType") out.super = value;
      if (key == "dimension") out.dimension = value;
      if (key == "value") out.value = value;
      if (key == "constantPool") out.is_constant = true;
    }
    return true;
  }

  // A field belongs to the last type, an annotation to the last field: the tree is written in that order.
  bool element(int depth) {
    std::string_view kind;
    Attributes attr;
    uint64_t children = 0;
    if (depth > kDeepestElement || !name(kind) || !attributes(attr) || !number(children)) return false;
    if (kind == "class") {
      TypeEntry& type = out_.types_.emplace_back();
      type.id = number_in(attr.id);
      type.name = attr.name;
      type.is_event = attr.super == "jdk.jfr.Event";
      in_field_ = false;
    } else if (kind == "field" && !out_.types_.empty()) {
      TypeField& field = out_.types_.back().fields.emplace_back();
      field.name = attr.name;
      field.type_id = number_in(attr.type_id);
      field.is_array = !attr.dimension.empty() && attr.dimension != "0";
      field.is_constant = attr.is_constant;
      in_field_ = true;
    } else if (kind == "annotation" && in_field_ && attr.value == "TICKS") {
      out_.types_.back().fields.back().ticks_annotation = number_in(attr.type_id);
    }
    for (; children > 0; --children) {
      if (!element(depth + 1)) return false;
    }
    if (kind == "field") in_field_ = false;
    return true;
  }

  TypeTable& out_;
  const uint8_t* p_;
  const uint8_t* end_;
  bool in_field_ = false;
};

Result<TypeTable> TypeTable::parse(std::span<const uint8_t> event) {
  TypeTable table;
  const uint8_t* p = event.data();
  const uint8_t* const end = p + event.size();
  uint64_t size = 0, type = 1;
  p = get_varint(p, end, size);
  if (p) p = get_varint(p, end, type);
  if (!p || type != 0 || !Parser(table, p, end).run()) {
    return Error{Errc::kCorrupt, "its description of types (metadata) is damaged"};
  }
  for (size_t i = 0; i < table.types_.size(); ++i) table.by_id_.emplace(table.types_[i].id, static_cast<int32_t>(i));
  for (TypeEntry& entry : table.types_) {
    for (TypeField& field : entry.fields) {
      const int32_t annotation = table.index_of(field.ticks_annotation);
      if (annotation < 0) continue;
      const std::string_view name = table.types_[static_cast<size_t>(annotation)].name;
      if (name == "jdk.jfr.Timestamp") field.ticks = Ticks::kTimestamp;
      if (name == "jdk.jfr.Timespan") field.ticks = Ticks::kTimespan;
    }
  }
  return table;
}

int32_t TypeTable::index_of(std::string_view name) const {
  const auto it = std::find_if(types_.begin(), types_.end(), [&](const TypeEntry& t) { return t.name == name; });
  return it == types_.end() ? -1 : static_cast<int32_t>(it - types_.begin());
}

}  // namespace tarsier::recording
