#include "linux/elf_functions.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>

#include "linux/elf_for_test.h"

namespace tarsier::linux {
namespace {

using namespace std::string_literals;

constexpr unsigned char kFunction = STT_FUNC;

std::string function(uint32_t name, uint64_t address, uint64_t size, uint16_t section = 1) {
  std::string bytes = ElfMaker::symbol(name, address, size, section);
  bytes[offsetof(Elf64_Sym, st_info)] = static_cast<char>(kFunction);
  return bytes;
}

//                              1      6       13            26     32
const std::string kNames = "\0main\0_start\0__libc_start\0start\0inside\0"s;

std::vector<uint8_t> small_file(const char* table = ".symtab") {
  ElfMaker maker;
  maker.add(".text", SHT_PROGBITS, std::string(0x100, '\0'), 0x1000);
  const uint32_t strings = maker.add(".strtab", SHT_STRTAB, kNames);
  maker.add(table, SHT_SYMTAB,
            ElfMaker::symbol(1, 0x1001, 8) +                               // no function
                function(13, 0x1080, 0x20) + function(26, 0x1080, 0x20) +  // two names for one place
                function(1, 0x1000, 0x40) + function(32, 0x1010, 4) +      // one inside of the other
                function(6, 0x10c0, 0) + function(26, 0x2000, 8, SHN_UNDEF),
            0, strings);
  return maker.make();
}

std::string name_at(const ElfFile& file, const ElfFunctions& functions, uint64_t address) {
  const auto* function = functions.find(address);
  return function == nullptr ? "" : functions.name_of(*function, file);
}

TEST(ElfFunctions, finds_who_an_address_belongs_to_and_never_the_nearest) {
  const auto bytes = small_file();
  const auto file = ElfFile::over(bytes);
  ASSERT_TRUE(file);
  const auto functions = ElfFunctions::read(*file, 1 << 20);
  ASSERT_TRUE(functions) << functions.error().what;
  EXPECT_EQ(functions->count(), 4U);
  EXPECT_EQ(name_at(*file, *functions, 0x1000), "main");
  EXPECT_EQ(name_at(*file, *functions, 0x1012), "inside");
  EXPECT_EQ(name_at(*file, *functions, 0x103f), "main");
  EXPECT_EQ(name_at(*file, *functions, 0x1040), "");
  EXPECT_EQ(name_at(*file, *functions, 0xfff), "");
  EXPECT_EQ(name_at(*file, *functions, 0x1090), "start");   // the plainest of its names
  EXPECT_EQ(name_at(*file, *functions, 0x10ff), "_start");  // without a size: as far as its section goes
  EXPECT_EQ(name_at(*file, *functions, 0x1100), "");
  EXPECT_EQ(name_at(*file, *functions, 0x2000), "");
  EXPECT_EQ(name_at(*file, *functions, ~uint64_t{0}), "");
}

TEST(ElfFunctions, takes_the_table_of_a_stripped_file) {
  const auto bytes = small_file(".dynsym");
  const auto file = ElfFile::over(bytes);
  const auto functions = ElfFunctions::read(*file, 1 << 20);
  ASSERT_TRUE(functions);
  EXPECT_EQ(name_at(*file, *functions, 0x1000), "main");
}

TEST(ElfFunctions, takes_no_more_memory_than_it_may) {
  const auto bytes = small_file();
  const auto file = ElfFile::over(bytes);
  EXPECT_FALSE(ElfFunctions::read(*file, 16));
  const auto functions = ElfFunctions::read(*file, 1 << 20);
  ASSERT_TRUE(functions);
  EXPECT_LE(functions->memory_used(), 8 * sizeof(ElfFunctions::Function));
}

TEST(ElfFunctions, survives_every_byte_being_another) {
  const auto good = small_file();
  for (size_t i = 0; i < good.size(); ++i) {
    auto bytes = good;
    for (const uint8_t value : {0x00, 0x7f, 0xff}) {
      bytes[i] = value;
      const auto file = ElfFile::over(bytes);
      if (!file) continue;
      const auto functions = ElfFunctions::read(*file, 1 << 20);
      if (!functions) continue;
      for (uint64_t address = 0xff0; address < 0x1110; address += 7) (void)name_at(*file, *functions, address);
    }
  }
}

__attribute__((noinline)) int some_function() {
  static volatile int value = 1;
  return value;
}

TEST(ElfFunctions, finds_functions_of_this_very_program) {
  const auto file = ElfFile::open("/proc/self/exe");
  ASSERT_TRUE(file);
  const auto functions = ElfFunctions::read(*file, 1 << 28);
  ASSERT_TRUE(functions);
  EXPECT_GT(functions->count(), 100U);
  const auto main = file->symbol("main");
  ASSERT_TRUE(main);
  EXPECT_EQ(name_at(*file, *functions, main->address + 4), "main");
  EXPECT_EQ(some_function(), 1);
}

}  // namespace
}  // namespace tarsier::linux
