#include "linux/elf_functions.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <span>

namespace tarsier::linux {
namespace {

constexpr uint64_t kLongestName = 4096;

bool is_function(const Elf64_Sym& symbol) {
  const auto type = ELF64_ST_TYPE(symbol.st_info);
  return (type == STT_FUNC || type == STT_GNU_IFUNC) && symbol.st_shndx != SHN_UNDEF && symbol.st_shndx != SHN_ABS;
}

// How much a name says that it is not meant for people: "write" is what "__write" and "__libc_write" are, too.
size_t underscores(std::span<const uint8_t> names, uint32_t at) {
  size_t count = 0;
  while (at + count < names.size() && names[at + count] == '_' && count < 4) ++count;
  return at < names.size() ? count : 4;
}

// What was written by hand may have no size: then it ends where the next one begins, or its section does.
uint64_t rest_of_section(const ElfFile& file, const Elf64_Sym& symbol) {
  if (symbol.st_shndx >= file.sections().size()) return 0;
  const ElfSection& section = file.sections()[symbol.st_shndx];
  const uint64_t offset = symbol.st_value - section.address;
  return offset < section.size ? section.size - offset : 0;
}

}  // namespace

Result<ElfFunctions> ElfFunctions::read(const ElfFile& file, size_t most) {
  ElfFunctions result;
  for (const char* name : {".symtab", ".dynsym"}) {
    const ElfSection* table = file.section(name);
    if (table == nullptr || table->link >= file.sections().size()) continue;
    const size_t possible = table->size / sizeof(Elf64_Sym);
    if (possible > most / sizeof(Function)) {
      return Error{Errc::kFailed, std::string(name) + " has more symbols than there is memory for"};
    }
    const auto symbols = file.bytes(*table);
    if (!symbols) return symbols.error();
    const ElfSection& names_section = file.sections()[table->link];
    const auto names = file.bytes(names_section);
    if (!names) return names.error();
    auto& functions = result.functions_;
    for (size_t at = 0; symbols->size() - at >= sizeof(Elf64_Sym); at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      std::memcpy(&symbol, symbols->data() + at, sizeof(symbol));
      if (!is_function(symbol)) continue;
      const uint64_t size = symbol.st_size != 0 ? symbol.st_size : rest_of_section(file, symbol);
      constexpr uint64_t kMost = std::numeric_limits<uint32_t>::max();
      functions.push_back({symbol.st_value, static_cast<uint32_t>(std::min(size, kMost)), symbol.st_name});
    }
    if (functions.empty()) continue;
    // Of several names for one place the plainest comes first, and stays. Sorting must not depend on what a sorted
    // table looked like in the file.
    std::sort(functions.begin(), functions.end(), [&](const Function& a, const Function& b) {
      if (a.address != b.address) return a.address < b.address;
      const size_t plain_a = underscores(*names, a.name), plain_b = underscores(*names, b.name);
      return plain_a != plain_b ? plain_a < plain_b : a.name != b.name ? a.name < b.name : a.size < b.size;
    });
    functions.erase(std::unique(functions.begin(), functions.end(),
                                [](const Function& a, const Function& b) { return a.address == b.address; }),
                    functions.end());
    functions.shrink_to_fit();
    result.names_ = names_section;
    return result;
  }
  return result;
}

const ElfFunctions::Function* ElfFunctions::find(uint64_t address) const {
  auto it = std::upper_bound(functions_.begin(), functions_.end(), address,
                             [](uint64_t wanted, const Function& function) { return wanted < function.address; });
  // A function may have an entry point, or a part with a name of its own, inside.
  constexpr int kMostInside = 4;
  for (int i = 0; i < kMostInside && it != functions_.begin(); ++i) {
    --it;
    if (address - it->address < it->size) return &*it;
  }
  return nullptr;
}

std::string ElfFunctions::name_of(const Function& function, const ElfFile& file) const {
  return file.string_in(names_, function.name, kLongestName);
}

}  // namespace tarsier::linux
