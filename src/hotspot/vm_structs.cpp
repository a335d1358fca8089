#include "hotspot/vm_structs.h"

namespace tarsier::hotspot {
namespace {

// HotSpot 8 to 25 has 2,000 to 3,500 rows; far more than that means that we misread the table.
constexpr size_t kMaxRows = 20'000;
constexpr size_t kMaxName = 256;

struct Table {
  Address start = 0;
  uint64_t stride = 0;
};

std::string key(std::string_view type, std::string_view field) {
  std::string result(type);
  result += '.';
  result += field;
  return result;
}

class Tables {
 public:
  Tables(const Memory& memory, const SymbolLookup& symbol) : memory_(memory), symbol_(symbol) {}

  // The value of an exported variable. A missing one is remembered and reported once, at the end.
  uint64_t value(const char* name) {
    const Address at = symbol_(name);
    const auto result = at == 0 ? std::nullopt : memory_.read<uint64_t>(at);
    if (!result && missing_.empty()) missing_ = name;
    return result.value_or(0);
  }
  [[nodiscard]] const std::string& missing() const { return missing_; }

  std::optional<std::string> string_at(Address at) {
    const auto pointer = memory_.read<Address>(at);
    if (!pointer || *pointer == 0) return std::nullopt;
    return memory_.read_string(*pointer, kMaxName);
  }

 private:
  const Memory& memory_;
  const SymbolLookup& symbol_;
  std::string missing_;
};

}  // namespace

Result<VmStructs> VmStructs::load(const Memory& memory, const SymbolLookup& symbol) {
  Tables tables(memory, symbol);
  const Table structs{tables.value("gHotSpotVMStructs"), tables.value("gHotSpotVMStructEntryArrayStride")};
  const uint64_t type_name = tables.value("gHotSpotVMStructEntryTypeNameOffset");
  const uint64_t field_name = tables.value("gHotSpotVMStructEntryFieldNameOffset");
  const uint64_t type_string = tables.value("gHotSpotVMStructEntryTypeStringOffset");
  const uint64_t is_static = tables.value("gHotSpotVMStructEntryIsStaticOffset");
  const uint64_t offset = tables.value("gHotSpotVMStructEntryOffsetOffset");
  const uint64_t address = tables.value("gHotSpotVMStructEntryAddressOffset");
  const Table types{tables.value("gHotSpotVMTypes"), tables.value("gHotSpotVMTypeEntryArrayStride")};
  const uint64_t entry_name = tables.value("gHotSpotVMTypeEntryTypeNameOffset");
  const uint64_t entry_size = tables.value("gHotSpotVMTypeEntrySizeOffset");
  if (!tables.missing().empty()) {
    return Error{Errc::kUnsupported,
                 "this JVM does not export " + tables.missing() + ": it is no HotSpot, or one built without vmStructs"};
  }

  VmStructs result;
  Address row = structs.start;
  for (size_t i = 0; i < kMaxRows; ++i, row += structs.stride) {
    const auto type = tables.string_at(row + type_name);
    if (!type) break;  // the table ends with a row without names
    const auto name = tables.string_at(row + field_name);
    if (!name) continue;
    Field field;
    field.is_static = memory.read<int32_t>(row + is_static).value_or(0) != 0;
    field.offset = memory.read<uint64_t>(row + offset).value_or(0);
    field.address = memory.read<Address>(row + address).value_or(0);
    field.type = tables.string_at(row + type_string).value_or("");
    result.fields_.emplace(key(*type, *name), std::move(field));
  }
  row = types.start;
  for (size_t i = 0; i < kMaxRows; ++i, row += types.stride) {
    const auto name = tables.string_at(row + entry_name);
    if (!name) break;
    result.sizes_.emplace(*name, memory.read<uint64_t>(row + entry_size).value_or(0));
  }
  if (result.fields_.empty()) return Error{Errc::kUnsupported, "the JVM's vmStructs are empty"};
  return result;
}

const VmStructs::Field* VmStructs::find(std::string_view type, std::string_view field) const {
  note(type);
  const auto it = fields_.find(key(type, field));
  return it == fields_.end() ? nullptr : &it->second;
}

std::optional<uint64_t> VmStructs::offset(std::string_view type, std::string_view field) const {
  const Field* found = find(type, field);
  return found != nullptr && !found->is_static ? std::optional(found->offset) : std::nullopt;
}

std::optional<Address> VmStructs::address(std::string_view type, std::string_view field) const {
  const Field* found = find(type, field);
  return found != nullptr && found->is_static && found->address != 0 ? std::optional(found->address) : std::nullopt;
}

std::optional<uint64_t> VmStructs::size_of(std::string_view type) const {
  note(type);
  const auto it = sizes_.find(std::string(type));
  return it == sizes_.end() ? std::nullopt : std::optional(it->second);
}

std::string_view VmStructs::type_of(std::string_view type, std::string_view field) const {
  const Field* found = find(type, field);
  return found == nullptr ? std::string_view() : std::string_view(found->type);
}

}  // namespace tarsier::hotspot
