#include "linux/loaded_elf.h"

#include <vector>

#include "linux/self_memory.h"

namespace tarsier::linux {
namespace {

// By its program headers, which say where each part of it lies and how large it is, and by its build id: another file
// may have taken its place, or its path leads elsewhere in our mount namespace.
bool is_same(const ElfFile& file, const LoadedLibrary& library, const Memory& memory) {
  std::vector<uint8_t> in_memory(library.headers_bytes);
  if (!memory.copy(in_memory.data(), library.headers, in_memory.size())) return false;
  if (file.program_headers() != in_memory) return false;
  const ElfSection* id = file.section(".note.gnu.build-id");
  if (id == nullptr) return true;
  constexpr uint64_t kLongestId = 256;
  const auto in_file = file.bytes(*id, kLongestId);
  if (!in_file) return false;
  in_memory.resize(in_file->size());
  return memory.copy(in_memory.data(), library.base + id->address, in_memory.size()) && *in_file == in_memory;
}

}  // namespace

Result<ElfFile> open_loaded(const LoadedLibrary& library, const Memory& memory) {
  auto file = ElfFile::open(library.path.empty() ? "/proc/self/exe" : library.path);
  if (file && !is_same(*file, library, memory)) {
    return Error{Errc::kFailed,
                 "'" + library.path + "' is not what was loaded: it was replaced since, by an update perhaps"};
  }
  return file;
}

Result<ElfFile> open_loaded(const LoadedLibrary& library) {
  return open_loaded(library, SelfMemory());
}

}  // namespace tarsier::linux
