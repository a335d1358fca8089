// How values of a type lie in the file: the type's fields, with structs opened up, as a flat list of steps. Compiled
// when first needed; recursion and sizes are bounded, because the description comes from the file.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "recording/decode.h"
#include "recording/type_table.h"

namespace tarsier::recording {

enum class Step : uint8_t {
  kByte,
  kSigned,  // a varint of which LayoutField::unused_bits are not part of the value: int, short; 0: long
  kChar,
  kConstant,   // a key
  kTimestamp,  // a long in ticks
  kTimespan,
  kFloat,
  kDouble,
  kString,
  kArray,
};

struct LayoutField {
  std::string_view name;
  int32_t within = -1;  // index into Layout::structs of the struct that holds it
  Step step = Step::kSigned;
  uint8_t unused_bits = 0;
  int32_t type = -1;     // index into the type table: of a constant's value or of an array's elements
  int32_t element = -1;  // index of the layout of an array's elements
};

struct Layout {
  struct Struct {
    std::string_view name;
    int32_t within = -1;
  };
  std::vector<LayoutField> fields;
  std::vector<Struct> structs;
  bool only_varints = false;  // can be skipped by counting

  // "name" or "struct.name"; -1 if there is none.
  [[nodiscard]] int32_t find(std::string_view path) const;
};

class Layouts {
 public:
  explicit Layouts(const TypeTable& types) : types_(types), by_type_(types.types().size(), kUnknown) {}

  // Index of a type's layout, -1 if it can't be decoded.
  int32_t of_type(int32_t type);
  [[nodiscard]] const Layout& at(int32_t layout) const { return layouts_[static_cast<size_t>(layout)]; }

  // Both return the byte after the value, nullptr if it is damaged. `end` is the end of the memory that may be read.
  const uint8_t* skip(const Layout& layout, const uint8_t* p, const uint8_t* end, int depth = 0) const;
  const uint8_t* skip(const LayoutField& field, const uint8_t* p, const uint8_t* end, int depth = 0) const;

 private:
  static constexpr int32_t kUnknown = -2;
  bool add_fields(Layout& layout, int32_t type, int32_t within, int depth);
  bool add_field(Layout& layout, const TypeField& field, int32_t within, int depth);
  int32_t element_layout(const TypeField& field, int32_t type);

  const TypeTable& types_;
  std::vector<Layout> layouts_;
  std::vector<int32_t> by_type_;
  int32_t constant_element_ = -1;
  size_t total_fields_ = 0;
};

}  // namespace tarsier::recording
