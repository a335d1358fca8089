#include "linux/elf.h"

#include <gtest/gtest.h>

#include <fstream>

#include "linux/elf_for_test.h"

namespace tarsier::linux {
namespace {

using namespace std::string_literals;

std::vector<uint8_t> small_file() {
  ElfMaker maker;
  maker.add(".note.gnu.build-id", SHT_NOTE, ElfMaker::note("GNU", NT_GNU_BUILD_ID, "\x01\xab\xff"s));
  const uint32_t strings = maker.add(".strtab", SHT_STRTAB, "\0exit\0exit.part.0\0gone\0"s);
  maker.add(".symtab", SHT_SYMTAB,
            ElfMaker::symbol(0, 0, 0) + ElfMaker::symbol(18, 0x30, 0, SHN_UNDEF) + ElfMaker::symbol(6, 0x20, 4) +
                ElfMaker::symbol(1, 0x10, 8),
            0, strings);
  const uint32_t dynamic = maker.add(".dynstr", SHT_STRTAB, "\0exit\0shared\0"s);
  maker.add(".dynsym", SHT_DYNSYM, ElfMaker::symbol(1, 0x99, 0) + ElfMaker::symbol(6, 0x40, 0), 0, dynamic);
  return maker.make();
}

TEST(Elf, finds_sections_symbols_and_the_build_id) {
  const auto bytes = small_file();
  const auto file = ElfFile::over(bytes);
  ASSERT_TRUE(file) << file.error().what;
  EXPECT_EQ(file->machine(), EM_AARCH64);
  EXPECT_EQ(file->sections().size(), 7U);
  ASSERT_NE(file->section(".symtab"), nullptr);
  EXPECT_EQ(file->section(".symtab")->size, 4 * sizeof(Elf64_Sym));
  EXPECT_EQ(file->section(".text"), nullptr);
  EXPECT_EQ(file->build_id(), "01abff");
  const auto exit = file->symbol("exit");
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->address, 0x10U);  // .symtab goes before .dynsym
  EXPECT_EQ(exit->size, 8U);
  EXPECT_EQ(file->symbol("exit.part.0")->address, 0x20U);
  EXPECT_EQ(file->symbol("shared")->address, 0x40U);
  EXPECT_FALSE(file->symbol("gone"));  // undefined here
  EXPECT_FALSE(file->symbol("exi"));
  EXPECT_FALSE(file->symbol(""));
}

TEST(Elf, every_cut_of_a_file_is_refused_or_read_without_harm) {
  const auto bytes = small_file();
  for (size_t size = 0; size < bytes.size(); ++size) {
    const std::vector<uint8_t> cut(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size));
    const auto file = ElfFile::over(cut);
    EXPECT_FALSE(file) << size;  // the section headers stand at the end
  }
}

TEST(Elf, every_changed_byte_is_survived) {
  const auto bytes = small_file();
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (const uint8_t value : {0x00, 0x7f, 0x80, 0xff}) {
      auto changed = bytes;
      changed[i] = value;
      const auto file = ElfFile::over(changed);
      if (!file) continue;
      (void)file->symbol("exit");
      (void)file->build_id();
      for (const ElfSection& section : file->sections()) (void)file->bytes(section);
    }
  }
}

TEST(Elf, says_what_is_wrong_with_a_file) {
  const auto what = [](const std::string& path) {
    const auto file = ElfFile::open(path);
    return file ? "fine" : file.error().what;
  };
  EXPECT_EQ(what("/nowhere/libjvm.so"), "/nowhere/libjvm.so: No such file or directory");
  EXPECT_EQ(what("/dev/null"), "/dev/null: not a regular file");
  EXPECT_EQ(what("/proc/self/status"), "/proc/self/status: not an ELF file");
  EXPECT_EQ(what("/proc/self/exe"), "fine");
  auto bytes = small_file();
  bytes[EI_CLASS] = ELFCLASS32;
  EXPECT_EQ(ElfFile::over(bytes).error().code, Errc::kUnsupported);
}

TEST(Elf, a_section_beyond_the_limit_is_not_loaded) {
  const auto bytes = small_file();
  const auto file = ElfFile::over(bytes);
  ASSERT_TRUE(file);
  EXPECT_TRUE(file->bytes(*file->section(".symtab"), 96));
  EXPECT_FALSE(file->bytes(*file->section(".symtab"), 95));
}

}  // namespace
}  // namespace tarsier::linux
