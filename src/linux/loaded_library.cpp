#include "linux/loaded_library.h"

#include <link.h>

#include <algorithm>
#include <cstddef>

namespace tarsier::linux {
namespace {

int visit(dl_phdr_info* info, size_t, void* argument) {
  LoadedLibrary library{~uint64_t{0}, 0, nullptr, info->dlpi_name != nullptr ? info->dlpi_name : ""};
  library.base = info->dlpi_addr;
  library.headers = reinterpret_cast<uint64_t>(info->dlpi_phdr);
  library.headers_bytes = info->dlpi_phnum * sizeof(ElfW(Phdr));
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_GNU_EH_FRAME) continue;
    library.eh_frame_header = reinterpret_cast<const uint8_t*>(info->dlpi_addr + segment.p_vaddr);
  }
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    const uint64_t begin = info->dlpi_addr + segment.p_vaddr;
    if (segment.p_type != PT_LOAD) continue;
    const auto tables = reinterpret_cast<uint64_t>(library.eh_frame_header);
    if (tables >= begin && tables - begin < segment.p_filesz) library.tables_end = begin + segment.p_filesz;
    if ((segment.p_flags & PF_X) == 0) continue;
    library.code_begin = std::min(library.code_begin, begin);
    library.code_end = std::max(library.code_end, begin + segment.p_memsz);
  }
  if (library.code_begin < library.code_end) {
    static_cast<std::vector<LoadedLibrary>*>(argument)->push_back(std::move(library));
  }
  return 0;
}

}  // namespace

std::vector<LoadedLibrary> loaded_libraries(bool with_tables) {
  std::vector<LoadedLibrary> libraries;
  ::dl_iterate_phdr(visit, &libraries);
  if (with_tables) std::erase_if(libraries, [](const auto& library) { return library.eh_frame_header == nullptr; });
  return libraries;
}

LibraryChanges library_changes() {
  LibraryChanges changes;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, size_t size, void* argument) {
        if (size >= offsetof(dl_phdr_info, dlpi_subs) + sizeof(info->dlpi_subs)) {
          *static_cast<LibraryChanges*>(argument) = {info->dlpi_adds, info->dlpi_subs};
        }
        return 1;  // the same in all of them
      },
      &changes);
  return changes;
}

std::optional<LoadedLibrary> find_library(std::string_view file_name) {
  for (LoadedLibrary& library : loaded_libraries()) {
    if (library.file_name() == file_name) return std::move(library);
  }
  return std::nullopt;
}

}  // namespace tarsier::linux
