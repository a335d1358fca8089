#include "linux/call_graph.h"

#include <gtest/gtest.h>

#include "linux/library_for_test.h"

namespace tarsier::linux {
namespace {

using Functions = CallGraph::Functions;

class CallGraphTest : public testing::TestWithParam<uint16_t> {
 protected:
  CallGraphTest() : library_(GetParam()) {
    library_.import("sleep")
        .import("wake")
        .function("leaf", {})
        .function("middle", {"leaf", "wake"})
        .function({"top", {"middle", "leaf", "middle"}, true, ""})
        .function("itself", {"itself"});
  }
  uint64_t at(const std::string& name) const { return library_.address_of(name); }

  LibraryMaker library_;
};
INSTANTIATE_TEST_SUITE_P(Machines, CallGraphTest, testing::Values(EM_AARCH64, EM_X86_64));

TEST_P(CallGraphTest, knows_calls_and_jumps_in_both_directions) {
  const auto bytes = library_.make();
  const auto file = ElfFile::over(bytes);
  ASSERT_TRUE(file);
  const auto graph = CallGraph::read(*file);
  ASSERT_TRUE(graph) << graph.error().what;
  EXPECT_EQ(graph->callees(at("top")), (Functions{at("leaf"), at("middle")}));
  EXPECT_EQ(graph->callers(at("leaf")), (Functions{at("middle"), at("top")}));
  EXPECT_EQ(graph->callers(at("top")), Functions{});
  EXPECT_EQ(graph->callees(at("itself")), Functions{});
  EXPECT_EQ(graph->callees(0x123), Functions{});
}

TEST_P(CallGraphTest, knows_who_calls_functions_of_others_by_their_names) {
  const auto bytes = library_.make();
  const auto file = ElfFile::over(bytes);
  const auto graph = CallGraph::read(*file);
  ASSERT_TRUE(graph);
  ASSERT_EQ(graph->import("wake"), Functions{at("wake")});
  EXPECT_EQ(graph->callers(at("wake")), Functions{at("middle")});
  ASSERT_EQ(graph->import("sleep"), Functions{at("sleep")});
  EXPECT_EQ(graph->callers(at("sleep")), Functions{});
  EXPECT_EQ(graph->import("walk"), Functions{});
}

TEST_P(CallGraphTest, tells_the_function_that_an_address_lies_in) {
  const auto bytes = library_.make();
  const auto file = ElfFile::over(bytes);
  const auto graph = CallGraph::read(*file);
  ASSERT_TRUE(graph);
  EXPECT_EQ(graph->function_at(at("middle")), at("middle"));
  EXPECT_EQ(graph->function_at(at("middle") + 8), at("middle"));
  EXPECT_EQ(graph->function_at(at("leaf") - 1), 0U);
}

TEST(CallGraph, a_library_without_unwind_tables_or_code_is_refused) {
  ElfMaker without_code;
  auto bytes = without_code.make();
  EXPECT_FALSE(CallGraph::read(*ElfFile::over(bytes)));
  ElfMaker without_tables;
  without_tables.add(".text", SHT_PROGBITS, "abcd", 0x1000);
  bytes = without_tables.make();
  EXPECT_FALSE(CallGraph::read(*ElfFile::over(bytes)));
  ElfMaker with_others;
  with_others.add(".text", SHT_PROGBITS, "abcd", 0x1000);
  with_others.add(".eh_frame_hdr", SHT_PROGBITS, std::string(64, '\x02'), 0x2000);
  bytes = with_others.make();
  EXPECT_FALSE(CallGraph::read(*ElfFile::over(bytes)));
}

TEST(CallGraph, a_count_of_functions_that_is_too_large_is_not_believed) {
  ElfMaker maker;
  maker.add(".text", SHT_PROGBITS, std::string(16, '\0'), 0x1000);
  maker.add(".eh_frame_hdr", SHT_PROGBITS,
            std::string("\x01\x1b\x03\x3b") + ElfMaker::bytes_of(uint32_t{0}) + ElfMaker::bytes_of(~uint32_t{0}) +
                ElfMaker::bytes_of(int32_t{-0x1000}) + ElfMaker::bytes_of(int32_t{0}),
            0x2000);
  const auto bytes = maker.make();
  const auto file = ElfFile::over(bytes);
  const auto graph = CallGraph::read(*file);
  ASSERT_TRUE(graph);
  EXPECT_EQ(graph->function_at(0x1004), 0x1000U);
}

}  // namespace
}  // namespace tarsier::linux
