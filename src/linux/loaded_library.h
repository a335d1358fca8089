// Where a library of this process has its code and the tables that lead from a function to its caller.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tarsier::linux {

struct LoadedLibrary {
  uint64_t code_begin, code_end;
  const uint8_t* eh_frame_header;
  std::string path;  // as it was loaded; empty of the program itself

  [[nodiscard]] std::string_view file_name() const {
    return std::string_view(path).substr(path.rfind('/') + 1);  // npos + 1 is 0
  }
};

// Those with such tables. None of this is for handlers.
std::vector<LoadedLibrary> loaded_libraries();
// By its file name without folders ("libc.so.6"); nothing if it is not loaded or has no such tables.
std::optional<LoadedLibrary> find_library(std::string_view file_name);

}  // namespace tarsier::linux
