#include "linux/wake_context.h"

#include <gtest/gtest.h>
#include <linux/btf.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "linux/kernel_symbols.h"

namespace tarsier::linux {
namespace {

// The types of a kernel that has one structure of the given name, with preempt_count at its ninth byte.
std::vector<uint8_t> types_with(const std::string& structure) {
  std::string strings(1, '\0');
  const auto text = [&](const std::string& word) {
    const auto at = static_cast<uint32_t>(strings.size());
    strings += word + '\0';
    return at;
  };
  const uint32_t number = text("unsigned int"), name = text(structure), member = text("preempt_count");
  const std::vector<uint32_t> types = {number, uint32_t{BTF_KIND_INT} << 24,        4,  32,  //
                                       name,   uint32_t{BTF_KIND_STRUCT} << 24 | 1, 16, member, 1, 64};
  btf_header header{};
  header.magic = BTF_MAGIC;
  header.version = 1;
  header.hdr_len = sizeof(header);
  header.type_len = static_cast<uint32_t>(types.size() * sizeof(uint32_t));
  header.str_off = header.type_len;
  header.str_len = static_cast<uint32_t>(strings.size());
  std::vector<uint8_t> bytes(sizeof(header) + header.type_len + strings.size());
  std::memcpy(bytes.data(), &header, sizeof(header));
  std::memcpy(bytes.data() + sizeof(header), types.data(), header.type_len);
  std::memcpy(bytes.data() + sizeof(header) + header.type_len, strings.data(), strings.size());
  return bytes;
}

class WakeContextTest : public ::testing::Test {
 protected:
  ~WakeContextTest() override { ::unlink(path_.c_str()); }
  bpf::WakeContext found(const std::string& structure, const std::string& symbols) {
    std::ofstream(path_) << symbols;
    const auto types = KernelTypes::parse(types_with(structure));
    EXPECT_TRUE(types);
    return types ? find_wake_context(&*types, path_) : bpf::WakeContext();
  }
  const std::string path_ = ::testing::TempDir() + "/symbols_" + std::to_string(::getpid());
};

TEST_F(WakeContextTest, what_the_kernel_does_not_tell_is_unknown) {
  const bpf::WakeContext none = find_wake_context(nullptr, "/nonexistent");
  EXPECT_EQ(none.wanted, 1u);
  EXPECT_EQ(none.place, uint32_t{bpf::kCountUnknown});
  EXPECT_EQ(none.delivers.begin, 0u);
  EXPECT_EQ(none.task_leader, 0u);
  // Types without the places of variables.
  EXPECT_EQ(found("pcpu_hot", "").place, uint32_t{bpf::kCountUnknown});
}

// As kernels for x86_64 have it.
TEST_F(WakeContextTest, the_count_of_a_cpu_is_found_by_the_names_of_variables) {
  const std::string offsets = "ffffffff82000000 D __per_cpu_offset\n";
  bpf::WakeContext here = found("pcpu_hot", "0000000000030000 D pcpu_hot\n" + offsets);
  EXPECT_EQ(here.place, uint32_t{bpf::kCountOfCpu});
  EXPECT_EQ(here.count, 0x30008u);
  EXPECT_EQ(here.cpu_offsets, 0xffffffff82000000u);
  here = found("something_else", "0000000000021034 D __preempt_count\n" + offsets);
  EXPECT_EQ(here.place, uint32_t{bpf::kCountOfCpu});
  EXPECT_EQ(here.count, 0x21034u);
}

TEST_F(WakeContextTest, of_this_kernel_is_found) {
  const auto types = KernelTypes::of_kernel();
  if (!types) GTEST_SKIP() << types.error().what;
  const bpf::WakeContext here = find_wake_context(&*types);
#if defined(__aarch64__)
  EXPECT_EQ(here.place, uint32_t{bpf::kCountInTask});
#endif
  EXPECT_NE(here.task_leader, 0u);
  EXPECT_NE(here.task_name, 0u);
  if (!KernelSymbols().available()) GTEST_SKIP() << "the kernel does not show where its functions are";
  EXPECT_NE(here.place, uint32_t{bpf::kCountUnknown});
  for (const bpf::KernelFunction& function : {here.delivers, here.lets_deliver, here.ends_interrupt[0]}) {
    EXPECT_NE(function.begin, 0u);
    EXPECT_GT(function.end, function.begin);
    EXPECT_LT(function.end, function.begin + (1 << 16));
  }
}

}  // namespace
}  // namespace tarsier::linux
