#include "linux/kernel_types.h"

#include <gtest/gtest.h>
#include <linux/btf.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace tarsier::linux {
namespace {

// struct one { u64 first; struct { long_name second; }; u32 bits : 3; }; u64 number, at 40 of the section .of_cpus.
class Description {
 public:
  Description() {
    const uint32_t u64 = type("u64", BTF_KIND_INT, 0, 8, {64});
    const uint32_t alias = type("long_name", BTF_KIND_TYPEDEF, 0, u64, {});
    const uint32_t constant = type("", BTF_KIND_CONST, 0, alias, {});
    const uint32_t unnamed = type("", BTF_KIND_STRUCT, 1, 8, {name("second"), constant, 0});
    const uint32_t u32 = type("u32", BTF_KIND_INT, 0, 4, {32});
    type("other", BTF_KIND_STRUCT, 1, 8, {name("first"), u64, 8 * 64});
    type("one", BTF_KIND_STRUCT, 3 | 1U << 31, 24,
         {name("first"), u64, 8 * 4, 0, unnamed, 8 * 16, name("bits"), u32, 3U << 24 | 8 * 24});
    const uint32_t other = type("other_number", BTF_KIND_VAR, 0, u64, {1}),
                   variable = type("number", BTF_KIND_VAR, 0, u64, {1});
    type(".of_cpus", BTF_KIND_DATASEC, 2, 64, {other, 32, 8, variable, 40, 8});
  }
  [[nodiscard]] std::vector<uint8_t> bytes() const {
    btf_header header{};
    header.magic = BTF_MAGIC;
    header.version = 1;
    header.hdr_len = sizeof(header);
    header.type_len = static_cast<uint32_t>(4 * types_.size());
    header.str_off = header.type_len;
    header.str_len = static_cast<uint32_t>(strings_.size());
    std::vector<uint8_t> all(sizeof(header) + header.type_len + header.str_len);
    std::memcpy(all.data(), &header, sizeof(header));
    std::memcpy(all.data() + sizeof(header), types_.data(), header.type_len);
    std::memcpy(all.data() + sizeof(header) + header.type_len, strings_.data(), strings_.size());
    return all;
  }

 private:
  uint32_t name(const std::string& text) {
    const auto at = static_cast<uint32_t>(strings_.size());
    strings_ += text + '\0';
    return at;
  }
  uint32_t type(const std::string& called, uint32_t kind, uint32_t count, uint32_t size_or_type,
                const std::vector<uint32_t>& body) {
    types_.push_back(called.empty() ? 0 : name(called));
    types_.push_back(kind << 24 | count);
    types_.push_back(size_or_type);
    types_.insert(types_.end(), body.begin(), body.end());
    return ++count_;
  }
  std::string strings_ = std::string(1, '\0');
  std::vector<uint32_t> types_;
  uint32_t count_ = 0;
};

TEST(KernelTypes, tells_where_members_are_and_how_large) {
  const auto types = KernelTypes::parse(Description().bytes());
  ASSERT_TRUE(types) << types.error().what;
  const auto first = types->member("one", "first");
  ASSERT_TRUE(first);
  EXPECT_EQ(first->offset, 4u);
  EXPECT_EQ(first->size, 8u);
  const auto second = types->member("one", "second");
  ASSERT_TRUE(second);
  EXPECT_EQ(second->offset, 16u);
  EXPECT_EQ(second->size, 8u);
  EXPECT_FALSE(types->member("one", "bits"));
  EXPECT_FALSE(types->member("one", "third"));
  EXPECT_FALSE(types->member("two", "first"));
}

TEST(KernelTypes, tells_where_variables_are_in_their_section) {
  const auto types = KernelTypes::parse(Description().bytes());
  ASSERT_TRUE(types) << types.error().what;
  EXPECT_EQ(types->variable(".of_cpus", "number"), 40u);
  EXPECT_EQ(types->variable(".of_cpus", "other_number"), 32u);
  EXPECT_FALSE(types->variable(".of_cpus", "u64"));
  EXPECT_FALSE(types->variable(".data", "number"));
}

TEST(KernelTypes, whatever_the_bytes_are_nothing_is_read_beyond_them) {
  const std::vector<uint8_t> good = Description().bytes();
  for (size_t size = 0; size < good.size(); ++size) {
    (void)KernelTypes::parse({good.begin(), good.begin() + static_cast<ptrdiff_t>(size)});
  }
  std::mt19937 random(1);
  for (int round = 0; round < 20'000; ++round) {
    std::vector<uint8_t> bytes = good;
    for (int i = 0; i < 3; ++i) bytes[random() % bytes.size()] = static_cast<uint8_t>(random());
    const auto types = KernelTypes::parse(bytes);
    if (!types) continue;
    (void)types->member("one", "first");
    (void)types->member("one", "second");
  }
}

TEST(KernelTypes, of_this_kernel_know_its_threads) {
  const auto types = KernelTypes::of_kernel();
  if (!types) GTEST_SKIP() << types.error().what;
  const auto leader = types->member("task_struct", "group_leader");
  ASSERT_TRUE(leader);
  EXPECT_EQ(leader->size, 8u);
  EXPECT_GT(leader->offset, 0u);
}

}  // namespace
}  // namespace tarsier::linux
