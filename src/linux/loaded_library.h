// Where a library of this process has its code and the tables that lead from a function to its caller.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tarsier::linux {

struct LoadedLibrary {
  uint64_t code_begin, code_end;
  const uint8_t* eh_frame_header;
};

// By its file name without folders ("libc.so.6"); nothing if it is not loaded or has no such tables. Not for handlers.
std::optional<LoadedLibrary> find_library(std::string_view file_name);

}  // namespace tarsier::linux
