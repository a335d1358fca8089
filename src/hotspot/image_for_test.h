// A JVM laid out by hand in an image: no JVM needed, and every damage can be tried.
#pragma once

#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/memory.h"
#include "hotspot/vm_structs.h"

namespace tarsier::hotspot {

class Image final : public Memory {
 public:
  static constexpr Address kBase = 0x10000;

  bool copy(void* out, Address from, size_t size) const noexcept override {
    if (from < kBase || from - kBase > bytes_.size() || size > bytes_.size() - (from - kBase)) return false;
    std::memcpy(out, bytes_.data() + (from - kBase), size);
    return true;
  }
  Address reserve(size_t size, size_t alignment = 16) {
    bytes_.resize((bytes_.size() + alignment - 1) / alignment * alignment);
    const Address at = kBase + bytes_.size();
    bytes_.resize(bytes_.size() + size);
    return at;
  }
  template <class T>
  void put(Address at, T value) {
    std::memcpy(bytes_.data() + (at - kBase), &value, sizeof(value));
  }
  Address text(const std::string& s) {
    const Address at = reserve(s.size() + 64);  // room, as strings in libjvm have neighbours
    std::memcpy(bytes_.data() + (at - kBase), s.c_str(), s.size() + 1);
    return at;
  }

 private:
  std::vector<uint8_t> bytes_;
};

// gHotSpotVMStructs and friends with the rows that a test asks for.
class Jvm {
 public:
  Jvm() {
    // Row layout as HotSpot has it: type, field, type string, is static, offset, address.
    export_value("gHotSpotVMStructEntryTypeNameOffset", 0);
    export_value("gHotSpotVMStructEntryFieldNameOffset", 8);
    export_value("gHotSpotVMStructEntryTypeStringOffset", 16);
    export_value("gHotSpotVMStructEntryIsStaticOffset", 24);
    export_value("gHotSpotVMStructEntryOffsetOffset", 32);
    export_value("gHotSpotVMStructEntryAddressOffset", 40);
    export_value("gHotSpotVMStructEntryArrayStride", 48);
    export_value("gHotSpotVMTypeEntryTypeNameOffset", 0);
    export_value("gHotSpotVMTypeEntrySizeOffset", 8);
    export_value("gHotSpotVMTypeEntryArrayStride", 16);
  }
  void member(const char* type, const char* field, const char* cpp_type, uint64_t offset) {
    rows_.push_back({type, field, cpp_type, false, offset, 0});
  }
  void static_member(const char* type, const char* field, Address address) {
    rows_.push_back({type, field, "address", true, 0, address});
  }
  void type(const char* name, uint64_t size) { types_.emplace_back(name, size); }
  void forget(const std::string& symbol) { symbols_.erase(symbol); }

  Result<VmStructs> load() {
    const Address structs = image.reserve((rows_.size() + 1) * 48);
    for (size_t i = 0; i < rows_.size(); ++i) {
      const Address row = structs + i * 48;
      image.put(row, image.text(rows_[i].type));
      image.put(row + 8, image.text(rows_[i].field));
      image.put(row + 16, image.text(rows_[i].cpp_type));
      image.put<int32_t>(row + 24, rows_[i].is_static);
      image.put(row + 32, rows_[i].offset);
      image.put(row + 40, rows_[i].address);
    }
    const Address types = image.reserve((types_.size() + 1) * 16);
    for (size_t i = 0; i < types_.size(); ++i) {
      image.put(types + i * 16, image.text(types_[i].first));
      image.put(types + i * 16 + 8, types_[i].second);
    }
    export_value("gHotSpotVMStructs", structs);
    export_value("gHotSpotVMTypes", types);
    return VmStructs::load(image, [this](const char* name) {
      const auto it = symbols_.find(name);
      return it == symbols_.end() ? Address{0} : it->second;
    });
  }

  Image image;

 private:
  struct Row {
    std::string type, field, cpp_type;
    bool is_static;
    uint64_t offset;
    Address address;
  };
  void export_value(const std::string& name, uint64_t value) {
    const Address at = image.reserve(8);
    image.put(at, value);
    symbols_[name] = at;
  }
  std::map<std::string, Address> symbols_;
  std::vector<Row> rows_;
  std::vector<std::pair<std::string, uint64_t>> types_;
};

}  // namespace tarsier::hotspot
