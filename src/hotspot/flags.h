// The JVM's flags (-XX:...), found by name through vmStructs.
#pragma once

#include <optional>
#include <string_view>

#include "base/memory.h"
#include "hotspot/vm_structs.h"

namespace tarsier::hotspot {

// Where the flag's value lies, or nullopt if this JVM has no such flag. The caller knows its type.
std::optional<Address> find_flag(const Memory& memory, const VmStructs& structs, std::string_view name);

}  // namespace tarsier::hotspot
