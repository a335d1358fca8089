#include "linux/loaded_library.h"

#include <link.h>

#include <algorithm>

namespace tarsier::linux {
namespace {

struct Search {
  std::string_view file_name;
  std::optional<LoadedLibrary> found;
};

int visit(dl_phdr_info* info, size_t, void* argument) {
  auto& search = *static_cast<Search*>(argument);
  std::string_view path = info->dlpi_name != nullptr ? info->dlpi_name : "";
  path.remove_prefix(path.rfind('/') + 1);  // npos + 1 is 0
  if (path != search.file_name) return 0;
  LoadedLibrary library{~uint64_t{0}, 0, nullptr};
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    const uint64_t begin = info->dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_GNU_EH_FRAME) library.eh_frame_header = reinterpret_cast<const uint8_t*>(begin);
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    library.code_begin = std::min(library.code_begin, begin);
    library.code_end = std::max(library.code_end, begin + segment.p_memsz);
  }
  if (library.eh_frame_header != nullptr && library.code_begin < library.code_end) search.found = library;
  return 1;
}

}  // namespace

std::optional<LoadedLibrary> find_library(std::string_view file_name) {
  Search search{file_name, std::nullopt};
  ::dl_iterate_phdr(visit, &search);
  return search.found;
}

}  // namespace tarsier::linux
