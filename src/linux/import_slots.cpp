#include "linux/import_slots.h"

#include <elf.h>

#include <cstring>

namespace tarsier::linux {
namespace {

// Empty if it has none.
std::vector<uint8_t> section_bytes(const ElfFile& file, const char* name) {
  const ElfSection* section = file.section(name);
  if (section == nullptr) return {};
  auto bytes = file.bytes(*section);
  return bytes ? std::move(*bytes) : std::vector<uint8_t>();
}

template <class T>
T read_at(const std::vector<uint8_t>& bytes, uint64_t at) {
  T value{};
  std::memcpy(&value, bytes.data() + at, sizeof(value));
  return value;
}

}  // namespace

std::map<uint64_t, std::string> import_slots(const ElfFile& file) {
  std::map<uint64_t, std::string> names;
  const ElfSection* strings = file.section(".dynstr");
  if (strings == nullptr) return names;
  const std::vector<uint8_t> symbols = section_bytes(file, ".dynsym");
  constexpr uint64_t kLongestName = 256;
  for (const char* section : {".rela.plt", ".rela.dyn"}) {
    const std::vector<uint8_t> relocations = section_bytes(file, section);
    for (uint64_t at = 0; at + sizeof(Elf64_Rela) <= relocations.size(); at += sizeof(Elf64_Rela)) {
      const auto relocation = read_at<Elf64_Rela>(relocations, at);
      const uint64_t symbol = ELF64_R_SYM(relocation.r_info) * sizeof(Elf64_Sym);
      if (symbol == 0 || symbol + sizeof(Elf64_Sym) > symbols.size()) continue;
      const auto entry = read_at<Elf64_Sym>(symbols, symbol);
      if (entry.st_shndx != SHN_UNDEF) continue;
      names[relocation.r_offset] = file.string_in(*strings, entry.st_name, kLongestName);
    }
  }
  return names;
}

}  // namespace tarsier::linux
