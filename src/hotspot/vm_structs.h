// The tables that every HotSpot exports about its own layout (gHotSpotVMStructs and its siblings).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/memory.h"
#include "base/result.h"

namespace tarsier::hotspot {

// Address of an exported symbol of libjvm, 0 if there is none.
using SymbolLookup = std::function<Address(const char* name)>;

class VmStructs {
 public:
  static Result<VmStructs> load(const Memory& memory, const SymbolLookup& symbol);

  // Offset of a member, e.g. offset("nmethod", "_compile_id").
  [[nodiscard]] std::optional<uint64_t> offset(std::string_view type, std::string_view field) const;
  // Address of a static member.
  [[nodiscard]] std::optional<Address> address(std::string_view type, std::string_view field) const;
  [[nodiscard]] std::optional<uint64_t> size_of(std::string_view type) const;
  // The C++ type of a member as HotSpot spells it ("size_t", "uint32_t"): widths changed between releases.
  [[nodiscard]] std::string_view type_of(std::string_view type, std::string_view field) const;

  // A copy that notes the types it is asked about, for whoever wants to ask the same later, without the JVM. The set
  // must live as long.
  [[nodiscard]] VmStructs noting(std::set<std::string, std::less<>>& types) const;
  // All that is known of these types, and back.
  [[nodiscard]] std::string text(const std::set<std::string, std::less<>>& types) const;
  static Result<VmStructs> from_text(std::string_view text);

 private:
  struct Field {
    bool is_static = false;
    uint64_t offset = 0;
    Address address = 0;
    std::string type;
  };
  [[nodiscard]] const Field* find(std::string_view type, std::string_view field) const;
  void note(std::string_view type) const {
    if (noted_ != nullptr) noted_->emplace(type);
  }

  std::unordered_map<std::string, Field> fields_;  // "Type.field"
  std::unordered_map<std::string, uint64_t> sizes_;
  std::set<std::string, std::less<>>* noted_ = nullptr;
};

}  // namespace tarsier::hotspot
