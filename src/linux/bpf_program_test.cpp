#include "linux/bpf_program.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/bpf.h>

#include <cstring>

namespace tarsier::linux {
namespace {

using testing::HasSubstr;

TEST(BpfProgram, says_that_it_was_left_out_of_the_build) {
  const auto program = BpfProgram::load({}, BPF_PROG_TYPE_PERF_EVENT, {}, {});
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().code, Errc::kUnsupported);
  EXPECT_THAT(program.error().what, HasSubstr("built without eBPF"));
}

TEST(BpfProgram, a_damaged_file_is_refused_before_the_kernel_sees_it) {
  std::vector<uint8_t> file(sizeof(Elf64_Ehdr));
  const auto refused = [&] {
    const auto program = BpfProgram::load(file, BPF_PROG_TYPE_PERF_EVENT, {}, {});
    return !program && program.error().what.find("damaged") != std::string::npos;
  };
  EXPECT_TRUE(refused()) << "no magic";
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_machine = EM_BPF;
  header.e_shnum = 5;
  header.e_shoff = sizeof(header);
  std::memcpy(file.data(), &header, sizeof(header));
  EXPECT_TRUE(refused()) << "sections behind the end";
  file.resize(file.size() + 5 * sizeof(Elf64_Shdr));
  EXPECT_TRUE(refused()) << "no code";
  header.e_shstrndx = 7;
  std::memcpy(file.data(), &header, sizeof(header));
  EXPECT_TRUE(refused()) << "no names";
  file.resize(3);
  EXPECT_TRUE(refused()) << "too short";
}

}  // namespace
}  // namespace tarsier::linux
