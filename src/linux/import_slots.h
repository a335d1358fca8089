// Where a library keeps the addresses of functions of other libraries, through which it calls them.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "linux/elf.h"

namespace tarsier::linux {

// The names of these functions by the addresses of their slots, as the file is linked.
std::map<uint64_t, std::string> import_slots(const ElfFile& file);

}  // namespace tarsier::linux
