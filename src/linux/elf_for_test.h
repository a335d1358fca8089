// ELF files by hand, for tests.
#pragma once

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace tarsier::linux {

class ElfMaker {
 public:
  explicit ElfMaker(uint16_t machine = EM_AARCH64) : machine_(machine) { add("", SHT_NULL, {}); }

  // Returns the section's number.
  uint32_t add(std::string_view name, uint32_t type, std::string bytes, uint64_t address = 0, uint32_t link = 0) {
    Elf64_Shdr header{};
    header.sh_name = static_cast<uint32_t>(names_.size());
    header.sh_type = type;
    header.sh_addr = address;
    header.sh_link = link;
    header.sh_size = bytes.size();
    header.sh_addralign = 4;
    names_.append(name).push_back('\0');
    headers_.push_back(header);
    contents_.push_back(std::move(bytes));
    return static_cast<uint32_t>(headers_.size() - 1);
  }

  // Header, sections, section headers.
  [[nodiscard]] std::vector<uint8_t> make() {
    const uint32_t names = add(".shstrtab", SHT_STRTAB, {});
    contents_[names] = names_;
    headers_[names].sh_size = names_.size();
    std::string out(sizeof(Elf64_Ehdr), '\0');
    for (size_t i = 0; i < headers_.size(); ++i) {
      headers_[i].sh_offset = out.size();
      out += contents_[i];
    }
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_machine = machine_;
    header.e_shoff = out.size();
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = static_cast<uint16_t>(headers_.size());
    header.e_shstrndx = static_cast<uint16_t>(names);
    std::memcpy(out.data(), &header, sizeof(header));
    for (const Elf64_Shdr& h : headers_) out += bytes_of(h);
    return {out.begin(), out.end()};
  }

  template <class T>
  static std::string bytes_of(const T& value) {
    return std::string(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  static std::string symbol(uint32_t name, uint64_t address, uint64_t size, uint16_t section = 1) {
    Elf64_Sym symbol{};
    symbol.st_name = name;
    symbol.st_shndx = section;
    symbol.st_value = address;
    symbol.st_size = size;
    return bytes_of(symbol);
  }
  static std::string note(std::string owner, uint32_t type, std::string description) {
    owner.push_back('\0');
    const Elf64_Nhdr header{static_cast<uint32_t>(owner.size()), static_cast<uint32_t>(description.size()), type};
    owner.resize((owner.size() + 3) / 4 * 4);
    description.resize((description.size() + 3) / 4 * 4);
    return bytes_of(header) + owner + description;
  }
  static std::string probe(uint64_t address, uint64_t base, uint64_t semaphore, std::string_view provider,
                           std::string_view name, std::string_view arguments) {
    std::string text = bytes_of(address) + bytes_of(base) + bytes_of(semaphore);
    for (const std::string_view part : {provider, name, arguments}) text.append(part).push_back('\0');
    return note("stapsdt", 3, text);
  }

 private:
  uint16_t machine_;
  std::string names_;
  std::vector<Elf64_Shdr> headers_;
  std::vector<std::string> contents_;
};

}  // namespace tarsier::linux
