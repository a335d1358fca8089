// The libraries in a process, from /proc/PID/maps.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/memory.h"

namespace tarsier::doctor {

struct MappedLibrary {
  std::string path;
  Address base = 0;    // where its first byte lies; 0 if that is not mapped
  uint64_t inode = 0;  // 0: none
  bool deleted = false;
};

std::vector<MappedLibrary> mapped_libraries(std::string_view maps);  // each once, in the order of the file

}  // namespace tarsier::doctor
