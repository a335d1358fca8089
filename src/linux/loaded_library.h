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
  const uint8_t* eh_frame_header;  // null: it has no such tables
  std::string path;                // as it was loaded; empty of the program itself
  uint64_t base = 0;               // addresses in its file count from here
  uint64_t tables_end = 0;         // of what is in memory of the part that the header above is in
  uint64_t headers = 0;            // its program headers
  uint32_t headers_bytes = 0;

  [[nodiscard]] std::string_view file_name() const {
    return std::string_view(path).substr(path.rfind('/') + 1);  // npos + 1 is 0
  }
};

// Those with such tables, or all. None of this is for handlers.
std::vector<LoadedLibrary> loaded_libraries(bool with_tables = true);
// How many libraries have been loaded and unloaded so far: if these are the same, so are the libraries.
struct LibraryChanges {
  uint64_t loaded = 0, unloaded = 0;
  bool operator==(const LibraryChanges&) const = default;
};
LibraryChanges library_changes();
// By its file name without folders ("libc.so.6"); nothing if it is not loaded or has no such tables.
std::optional<LoadedLibrary> find_library(std::string_view file_name);

}  // namespace tarsier::linux
