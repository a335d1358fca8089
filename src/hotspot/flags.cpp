#include "hotspot/flags.h"

namespace tarsier::hotspot {

std::optional<Address> find_flag(const Memory& memory, const VmStructs& structs, std::string_view name) {
  // JDK 8 calls the type Flag.
  for (const char* type : {"JVMFlag", "Flag"}) {
    const auto table = structs.address(type, "flags");
    const auto count = structs.address(type, "numFlags");
    const auto name_offset = structs.offset(type, "_name");
    const auto address_offset = structs.offset(type, "_addr");
    const auto size = structs.size_of(type);
    if (!table || !count || !name_offset || !address_offset || !size) continue;
    const auto first = memory.read<Address>(*table);
    const auto flags = memory.read<uint64_t>(*count);
    if (!first || !flags || *flags > 10'000) continue;  // about 1,500 in JDK 25
    for (uint64_t i = 0; i < *flags; ++i) {
      const Address flag = *first + i * *size;
      const auto text = memory.read<Address>(flag + *name_offset);
      if (!text || *text == 0) continue;  // the last row has no name
      if (memory.read_string(*text, 128) != name) continue;
      return memory.read<Address>(flag + *address_offset);
    }
  }
  return std::nullopt;
}

}  // namespace tarsier::hotspot
