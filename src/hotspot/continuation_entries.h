// Where a carrier has entered its virtual thread: a frame on its stack, to which its JavaThread points.
#pragma once

#include <optional>

#include "base/memory.h"
#include "hotspot/machine.h"
#include "hotspot/vm_structs.h"

namespace tarsier::hotspot {

// The offset of that pointer in a JavaThread; nothing where the JVM does not tell. 21 does not list it, but its stubs
// go back to that frame by it.
std::optional<uint64_t> find_continuation_entries(const Memory& memory, const VmStructs& structs,
                                                  const Machine& machine);

}  // namespace tarsier::hotspot
