// Where this process has memory.
#pragma once

#include <cstdint>

namespace tarsier::linux {

// The end of the mapping that the address lies in; 0 if there is none. Reads /proc/self/maps, which takes a millisecond
// in a large process.
uint64_t mapping_end(uint64_t address);
// May it be written to? The same cost.
bool mapping_is_writable(uint64_t address);

}  // namespace tarsier::linux
