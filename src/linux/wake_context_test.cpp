#include "linux/wake_context.h"

#include <gtest/gtest.h>
#include <linux/btf.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "linux/kernel_symbols.h"

namespace tarsier::linux {
namespace {

// The types of a kernel, put together.
class Types {
 public:
  Types() { number_ = add("unsigned int", uint32_t{BTF_KIND_INT} << 24, 4, {32}); }
  // A structure with members at these bytes.
  Types& structure(const std::string& name, const std::vector<std::pair<std::string, uint32_t>>& members) {
    std::vector<uint32_t> body;
    for (const auto& [member, at] : members) body.insert(body.end(), {text(member), number_, 8 * at});
    add(name, uint32_t{BTF_KIND_STRUCT} << 24 | static_cast<uint32_t>(members.size()), 16, body);
    return *this;
  }
  // What each CPU has one of, at these bytes.
  Types& of_cpus(const std::vector<std::pair<std::string, uint32_t>>& variables) {
    std::vector<uint32_t> body;
    for (const auto& [name, at] : variables)
      body.insert(body.end(), {add(name, uint32_t{BTF_KIND_VAR} << 24, number_, {1}), at, 4});
    add(".data..percpu", uint32_t{BTF_KIND_DATASEC} << 24 | static_cast<uint32_t>(variables.size()), 1 << 20, body);
    return *this;
  }
  [[nodiscard]] std::vector<uint8_t> bytes() const {
    btf_header header{};
    header.magic = BTF_MAGIC;
    header.version = 1;
    header.hdr_len = sizeof(header);
    header.type_len = static_cast<uint32_t>(words_.size() * sizeof(uint32_t));
    header.str_off = header.type_len;
    header.str_len = static_cast<uint32_t>(strings_.size());
    std::vector<uint8_t> all(sizeof(header) + header.type_len + strings_.size());
    std::memcpy(all.data(), &header, sizeof(header));
    std::memcpy(all.data() + sizeof(header), words_.data(), header.type_len);
    std::memcpy(all.data() + sizeof(header) + header.type_len, strings_.data(), strings_.size());
    return all;
  }

 private:
  uint32_t text(const std::string& word) {
    const auto at = static_cast<uint32_t>(strings_.size());
    strings_ += word + '\0';
    return at;
  }
  uint32_t add(const std::string& name, uint32_t info, uint32_t size_or_type, const std::vector<uint32_t>& body) {
    words_.insert(words_.end(), {text(name), info, size_or_type});
    words_.insert(words_.end(), body.begin(), body.end());
    return ++count_;
  }

  std::string strings_ = std::string(1, '\0');
  std::vector<uint32_t> words_;
  uint32_t count_ = 0, number_ = 0;
};

class WakeContextTest : public ::testing::Test {
 protected:
  ~WakeContextTest() override { ::unlink(path_.c_str()); }
  bpf::WakeContext found(const std::string& structure, const std::string& symbols) {
    return found(Types().structure(structure, {{"preempt_count", 8}}), symbols);
  }
  bpf::WakeContext found(const Types& described, const std::string& symbols) {
    std::ofstream(path_) << symbols;
    const auto types = KernelTypes::parse(described.bytes());
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

// As kernels for x86_64 have it that name no variables.
TEST_F(WakeContextTest, the_count_of_a_cpu_is_found_beside_its_run_queue) {
  Types types;
  types.structure("task_struct", {{"se", 128}}).structure("sched_entity", {{"cfs_rq", 40}});
  types.structure("cfs_rq", {{"rq", 312}}).of_cpus({{"__preempt_count", 86064}, {"runqueues", 178752}});
  const bpf::WakeContext here = found(types, "ffffffff81000000 T net_rx_action\n");
  EXPECT_EQ(here.place, uint32_t{bpf::kCountBesideQueue});
  EXPECT_EQ(here.count, uint64_t{86064} - 178752);
  EXPECT_EQ(here.task_queue, 168u);
  EXPECT_EQ(here.queue_cpu, 312u);
  EXPECT_EQ(found(Types().of_cpus({{"__preempt_count", 8}, {"runqueues", 16}}), "").place,
            uint32_t{bpf::kCountUnknown});
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
