#include "linux/elf.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

namespace tarsier::linux {
namespace {

static_assert(std::endian::native == std::endian::little, "headers are read as they lie");

constexpr size_t kMaxName = 256;             // of a section; ours are all shorter
constexpr uint64_t kMaxNoteBytes = 1 << 16;  // of the build id's section

class FileBytes final : public Memory {
 public:
  explicit FileBytes(unique_fd fd) : fd_(std::move(fd)) {}
  bool copy(void* out, Address from, size_t size) const noexcept override {
    auto* to = static_cast<uint8_t*>(out);
    while (size > 0) {
      const ssize_t got = ::pread(fd_.get(), to, size, static_cast<off_t>(from));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      to += got;
      from += static_cast<size_t>(got);
      size -= static_cast<size_t>(got);
    }
    return true;
  }

 private:
  unique_fd fd_;
};

class SpanBytes final : public Memory {
 public:
  explicit SpanBytes(std::span<const uint8_t> bytes) : bytes_(bytes) {}
  bool copy(void* out, Address from, size_t size) const noexcept override {
    if (from > bytes_.size() || size > bytes_.size() - from) return false;
    if (size > 0) std::memcpy(out, bytes_.data() + from, size);
    return true;
  }

 private:
  std::span<const uint8_t> bytes_;
};

Error corrupt(const std::string& what) {
  return Error{Errc::kCorrupt, "damaged ELF file: " + what};
}

// The string at `offset` of a string table; empty if it does not end there within `limit`.
std::string_view string_at(std::span<const uint8_t> table, uint64_t offset, size_t limit) {
  if (offset >= table.size()) return {};
  const auto* begin = reinterpret_cast<const char*>(table.data()) + offset;
  const size_t room = std::min<size_t>(limit, table.size() - offset);
  const auto* end = static_cast<const char*>(std::memchr(begin, 0, room));
  return end == nullptr ? std::string_view() : std::string_view(begin, static_cast<size_t>(end - begin));
}

// Compares without looking for the string's end, which a hostile table may put millions of bytes away.
bool is_string_at(std::span<const uint8_t> table, uint64_t offset, std::string_view wanted) {
  if (offset >= table.size() || table.size() - offset <= wanted.size()) return false;
  return std::memcmp(table.data() + offset, wanted.data(), wanted.size()) == 0 && table[offset + wanted.size()] == 0;
}

std::string hexadecimal(std::span<const uint8_t> bytes) {
  std::string text;
  for (const uint8_t byte : bytes) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

}  // namespace

Result<ElfFile> ElfFile::open(const std::string& path) {
  // Without O_NONBLOCK a pipe of that name would keep us waiting for a writer.
  unique_fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) return errno_error(path, errno, errno == EACCES ? Errc::kNotPermitted : Errc::kFailed);
  auto file = read(std::move(fd));
  if (!file) return std::move(file).error().in(path);
  return file;
}

Result<ElfFile> ElfFile::read(unique_fd fd) {
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) return errno_error("fstat", errno);
  if (!S_ISREG(status.st_mode)) return Error{Errc::kFailed, "not a regular file"};
  return parse(std::make_unique<FileBytes>(std::move(fd)), static_cast<uint64_t>(status.st_size));
}

Result<ElfFile> ElfFile::over(std::span<const uint8_t> bytes) {
  return parse(std::make_unique<SpanBytes>(bytes), bytes.size());
}

Result<ElfFile> ElfFile::parse(std::unique_ptr<const Memory> file, uint64_t size) {
  ElfFile elf(std::move(file), size);
  if (auto read = elf.read_sections(); !read) return std::move(read).error();
  return elf;
}

Status ElfFile::read_sections() {
  const auto header = file_->read<Elf64_Ehdr>(0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return Error{Errc::kCorrupt, "not an ELF file"};
  if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB) {
    return Error{Errc::kUnsupported, "an ELF file of 32 bits or big-endian: only 64 bits, little-endian are read"};
  }
  machine_ = header->e_machine;
  if (header->e_shoff == 0) return {};  // no sections at all: legal, and nothing to find
  if (header->e_shentsize != sizeof(Elf64_Shdr)) return corrupt("section headers of a strange size");

  // With 65,280 sections and more the true numbers stand in the first section's header.
  const auto first = file_->read<Elf64_Shdr>(header->e_shoff);
  if (!first) return corrupt("the section headers lie outside of it");
  const uint64_t count = header->e_shnum != 0 ? header->e_shnum : first->sh_size;
  const uint32_t names_at = header->e_shstrndx != SHN_XINDEX ? header->e_shstrndx : first->sh_link;
  if (count > size_ / sizeof(Elf64_Shdr) || !inside(header->e_shoff, count * sizeof(Elf64_Shdr))) {
    return corrupt("the section headers lie outside of it");
  }
  std::vector<Elf64_Shdr> headers(count);
  if (!file_->copy(headers.data(), header->e_shoff, count * sizeof(Elf64_Shdr))) {
    return corrupt("the section headers can't be read");
  }
  sections_.reserve(count);
  for (const Elf64_Shdr& h : headers) {
    sections_.push_back({{}, h.sh_type, h.sh_addr, h.sh_offset, h.sh_size, h.sh_addralign, h.sh_link});
  }
  if (names_at == SHN_UNDEF) return {};
  if (names_at >= count) return corrupt("no section holds the section names");
  const auto names = bytes(sections_[names_at]);
  if (!names) return names.error();
  for (size_t i = 0; i < count; ++i) sections_[i].name = string_at(*names, headers[i].sh_name, kMaxName);
  return {};
}

const ElfSection* ElfFile::section(std::string_view name) const {
  const auto found =
      std::find_if(sections_.begin(), sections_.end(), [&](const ElfSection& section) { return section.name == name; });
  return found == sections_.end() ? nullptr : &*found;
}

Result<std::vector<uint8_t>> ElfFile::bytes(const ElfSection& section, uint64_t limit) const {
  if (section.type == SHT_NOBITS) return std::vector<uint8_t>();
  const std::string name = section.name.empty() ? "a section" : "section " + section.name;
  if (!inside(section.offset, section.size)) return corrupt(name + " lies outside of it");
  if (section.size > limit) return corrupt(name + " is implausibly large");
  std::vector<uint8_t> out(section.size);
  if (!file_->copy(out.data(), section.offset, out.size())) return corrupt(name + " can't be read");
  return out;
}

std::vector<uint8_t> ElfFile::program_headers() const {
  const auto header = file_->read<Elf64_Ehdr>(0);
  if (!header || header->e_phentsize != sizeof(Elf64_Phdr)) return {};
  std::vector<uint8_t> bytes(size_t{header->e_phnum} * sizeof(Elf64_Phdr));
  if (!inside(header->e_phoff, bytes.size()) || !file_->copy(bytes.data(), header->e_phoff, bytes.size())) return {};
  return bytes;
}

std::string ElfFile::string_in(const ElfSection& table, uint64_t offset, uint64_t limit) const {
  if (table.type == SHT_NOBITS || !inside(table.offset, table.size) || offset >= table.size) return {};
  std::vector<uint8_t> bytes(std::min(limit, table.size - offset));
  if (!file_->copy(bytes.data(), table.offset + offset, bytes.size())) return {};
  return std::string(string_at(bytes, 0, bytes.size()));
}

std::optional<ElfSymbol> ElfFile::symbol(std::string_view name) const {
  for (const char* table : {".symtab", ".dynsym"}) {
    const ElfSection* section = this->section(table);
    if (section == nullptr) continue;
    if (const auto found = symbol_in(*section, name)) return found;
  }
  return std::nullopt;
}

std::optional<ElfSymbol> ElfFile::symbol_in(const ElfSection& table, std::string_view name) const {
  if (name.empty() || table.link >= sections_.size()) return std::nullopt;
  const auto names = bytes(sections_[table.link]);
  const auto symbols = bytes(table);
  if (!names || !symbols) return std::nullopt;
  for (size_t at = 0; symbols->size() - at >= sizeof(Elf64_Sym); at += sizeof(Elf64_Sym)) {
    Elf64_Sym symbol;
    std::memcpy(&symbol, symbols->data() + at, sizeof(symbol));
    if (symbol.st_shndx == SHN_UNDEF || !is_string_at(*names, symbol.st_name, name)) continue;
    return ElfSymbol{symbol.st_value, symbol.st_size};
  }
  return std::nullopt;
}

std::string ElfFile::build_id() const {
  const ElfSection* section = this->section(".note.gnu.build-id");
  if (section == nullptr) return {};
  const auto notes = bytes(*section, kMaxNoteBytes);
  if (!notes) return {};
  std::string id;
  for_each_note(*notes, section->alignment, [&](const ElfNote& note) {
    if (note.owner == ELF_NOTE_GNU && note.type == NT_GNU_BUILD_ID) id = hexadecimal(note.description);
    return id.empty();
  });
  return id;
}

void for_each_note(std::span<const uint8_t> bytes, uint64_t alignment,
                   const std::function<bool(const ElfNote&)>& visit) {
  // Some tools write 1 or 0 here and mean 4.
  const uint64_t step = alignment == 8 ? 8 : 4;
  const auto padded = [&](uint64_t size) { return (size + step - 1) / step * step; };
  while (bytes.size() >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr header;
    std::memcpy(&header, bytes.data(), sizeof(header));
    bytes = bytes.subspan(sizeof(header));
    const uint64_t name_room = padded(header.n_namesz);
    if (name_room > bytes.size() || header.n_descsz > bytes.size() - name_room) return;
    ElfNote note;
    note.owner = string_at(bytes.first(header.n_namesz), 0, header.n_namesz);
    note.type = header.n_type;
    note.description = bytes.subspan(name_room, header.n_descsz);
    if (!visit(note)) return;
    // The last note may lack its padding.
    bytes = bytes.subspan(std::min<uint64_t>(bytes.size(), name_room + padded(header.n_descsz)));
  }
}

}  // namespace tarsier::linux
