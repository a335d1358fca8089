#include "linux/loaded_library.h"

#include <link.h>

#include <algorithm>

namespace tarsier::linux {
namespace {

int visit(dl_phdr_info* info, size_t, void* argument) {
  LoadedLibrary library{~uint64_t{0}, 0, nullptr, info->dlpi_name != nullptr ? info->dlpi_name : ""};
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    const uint64_t begin = info->dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_GNU_EH_FRAME) library.eh_frame_header = reinterpret_cast<const uint8_t*>(begin);
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    library.code_begin = std::min(library.code_begin, begin);
    library.code_end = std::max(library.code_end, begin + segment.p_memsz);
  }
  if (library.eh_frame_header != nullptr && library.code_begin < library.code_end) {
    static_cast<std::vector<LoadedLibrary>*>(argument)->push_back(std::move(library));
  }
  return 0;
}

}  // namespace

std::vector<LoadedLibrary> loaded_libraries() {
  std::vector<LoadedLibrary> libraries;
  ::dl_iterate_phdr(visit, &libraries);
  return libraries;
}

std::optional<LoadedLibrary> find_library(std::string_view file_name) {
  for (LoadedLibrary& library : loaded_libraries()) {
    if (library.file_name() == file_name) return std::move(library);
  }
  return std::nullopt;
}

}  // namespace tarsier::linux
