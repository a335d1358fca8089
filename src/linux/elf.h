// Reads ELF files (64 bits, little-endian) of any origin: bounds first, nothing is believed, nothing is mapped, so a
// file that is cut or changed meanwhile costs an error and no signal.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/memory.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace tarsier::linux {

struct ElfSection {
  std::string name;
  uint32_t type = 0;  // SHT_*
  uint64_t address = 0;
  uint64_t offset = 0, size = 0;  // in the file
  uint64_t alignment = 0;
  uint32_t link = 0;
};

struct ElfSymbol {
  uint64_t address = 0;
  uint64_t size = 0;
};

struct ElfNote {
  std::string_view owner;
  uint32_t type = 0;
  std::span<const uint8_t> description;
};

class ElfFile {
 public:
  static Result<ElfFile> open(const std::string& path);
  static Result<ElfFile> read(unique_fd fd);
  static Result<ElfFile> over(std::span<const uint8_t> bytes);  // which must outlive it

  [[nodiscard]] uint16_t machine() const { return machine_; }  // EM_AARCH64, EM_X86_64, ...
  [[nodiscard]] const std::vector<ElfSection>& sections() const { return sections_; }
  [[nodiscard]] const ElfSection* section(std::string_view name) const;  // the first of that name, or nullptr
  // Fails if it lies outside of the file or is larger than `limit`.
  [[nodiscard]] Result<std::vector<uint8_t>> bytes(const ElfSection& section, uint64_t limit = kMaxSection) const;

  // As they lie in the file, and in memory once it is loaded; empty if they are not all there.
  [[nodiscard]] std::vector<uint8_t> program_headers() const;
  // The string at an offset of a table of strings; empty if it does not end there within `limit` bytes.
  [[nodiscard]] std::string string_in(const ElfSection& table, uint64_t offset, uint64_t limit) const;

  // A symbol that is defined here, by its exact (mangled) name: from .symtab, else .dynsym. A stripped file has only
  // the latter. Searches linearly.
  [[nodiscard]] std::optional<ElfSymbol> symbol(std::string_view name) const;
  [[nodiscard]] std::string build_id() const;  // lower-case hexadecimal; empty if there is none

  static constexpr uint64_t kMaxSection = 1 << 28;

 private:
  ElfFile(std::unique_ptr<const Memory> file, uint64_t size) : file_(std::move(file)), size_(size) {}
  static Result<ElfFile> parse(std::unique_ptr<const Memory> file, uint64_t size);
  Status read_sections();
  [[nodiscard]] bool inside(uint64_t offset, uint64_t size) const { return offset <= size_ && size <= size_ - offset; }
  [[nodiscard]] std::optional<ElfSymbol> symbol_in(const ElfSection& table, std::string_view name) const;

  std::unique_ptr<const Memory> file_;  // addresses are offsets in the file
  uint64_t size_;
  uint16_t machine_ = 0;
  std::vector<ElfSection> sections_;
};

// Calls `visit` for each note of a section's bytes, up to the first that does not fit; false from it ends the walk.
void for_each_note(std::span<const uint8_t> bytes, uint64_t alignment,
                   const std::function<bool(const ElfNote&)>& visit);

}  // namespace tarsier::linux
