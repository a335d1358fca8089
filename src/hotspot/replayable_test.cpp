// What makes a decoded fragment decodable again: layouts and rules that go into a recording and come back.
#include <gtest/gtest.h>

#include "hotspot/image_for_test.h"
#include "hotspot/machine.h"
#include "hotspot/noted_rules.h"

namespace tarsier::hotspot {
namespace {

TEST(VmStructs, come_back_from_their_text_as_far_as_they_were_asked_for) {
  Jvm jvm;
  jvm.member("nmethod", "_compile_id", "int", 96);
  jvm.member("nmethod", "_comp_level", "CompLevel", 100);
  jvm.member("Unrelated", "_field", "int", 8);
  jvm.member("ConstMethod", "_flags._flags", "u4", 40);
  jvm.static_member("CodeCache", "_heaps", 0xfedcba9876543210);
  jvm.type("ConstMethod", 56);
  jvm.type("Unrelated", 16);
  const auto structs = jvm.load();
  ASSERT_TRUE(structs);
  std::set<std::string, std::less<>> types;
  const VmStructs noting = structs->noting(types);
  EXPECT_EQ(noting.offset("nmethod", "_compile_id"), 96u);
  EXPECT_EQ(noting.size_of("ConstMethod"), 56u);
  EXPECT_EQ(noting.address("CodeCache", "_heaps"), 0xfedcba9876543210);
  EXPECT_FALSE(noting.offset("NotThere", "_field"));

  const auto back = VmStructs::from_text(structs->text(types));
  ASSERT_TRUE(back) << back.error().what;
  EXPECT_EQ(back->offset("nmethod", "_compile_id"), 96u);
  EXPECT_EQ(back->type_of("nmethod", "_comp_level"), "CompLevel");
  EXPECT_EQ(back->offset("ConstMethod", "_flags._flags"), 40u);
  EXPECT_EQ(back->size_of("ConstMethod"), 56u);
  EXPECT_EQ(back->address("CodeCache", "_heaps"), 0xfedcba9876543210);
  EXPECT_FALSE(back->offset("CodeCache", "_heaps"));
  EXPECT_FALSE(back->offset("Unrelated", "_field"));
  EXPECT_FALSE(back->size_of("Unrelated"));
}

TEST(VmStructs, refuse_a_text_that_is_none) {
  for (const char* bad : {"a", "a\t", "a\t+", "a\t+x", "\t+1", "a\t+1x", "\n", "a\t+11112222333344445"}) {
    EXPECT_FALSE(VmStructs::from_text(bad)) << bad;
  }
  EXPECT_TRUE(VmStructs::from_text(""));
}

class OneRule final : public NativeFrames {
 public:
  [[nodiscard]] std::optional<UnwindRule> rule_at(Address pc) const override {
    if (pc != 0x1234) return std::nullopt;
    return UnwindRule{true, 32, false, -8, true, -16, false};
  }
};

TEST(NativeRules, come_back_as_they_were) {
  const OneRule source;
  const NotedRules noted(source);
  EXPECT_TRUE(noted.rule_at(0x1234));
  EXPECT_FALSE(noted.rule_at(0x1235));
  std::vector<uint8_t> bytes = noted.encode();
  bytes.push_back(1);  // half an entry
  const SavedRules saved(bytes);
  EXPECT_FALSE(saved.rule_at(0x1235));
  const auto rule = saved.rule_at(0x1234);
  ASSERT_TRUE(rule);
  EXPECT_TRUE(rule->by_fp);
  EXPECT_EQ(rule->cfa_offset, 32);
  EXPECT_FALSE(rule->ra_saved);
  EXPECT_EQ(rule->ra_offset, -8);
  EXPECT_TRUE(rule->fp_saved);
  EXPECT_EQ(rule->fp_offset, -16);
}

TEST(Machines, are_found_by_name) {
  EXPECT_EQ(Machine::find("aarch64"), &Machine::aarch64());
  EXPECT_EQ(Machine::find("x86_64"), &Machine::x86_64());
  EXPECT_EQ(Machine::find("vax"), nullptr);
}

}  // namespace
}  // namespace tarsier::hotspot
