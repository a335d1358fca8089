#include "linux/function_extents.h"

#include <gtest/gtest.h>

#include "linux/library_for_test.h"

namespace tarsier::linux {
namespace {

class FunctionExtentsTest : public testing::TestWithParam<uint16_t> {
 protected:
  FunctionExtentsTest() : library_(GetParam()) { library_.function("first", {}).function("second", {"first"}); }

  LibraryMaker library_;
};
INSTANTIATE_TEST_SUITE_P(Machines, FunctionExtentsTest, testing::Values(EM_AARCH64, EM_X86_64));

TEST_P(FunctionExtentsTest, knows_where_functions_begin_and_end) {
  const auto bytes = library_.make();
  const auto extents = FunctionExtents::read(*ElfFile::over(bytes));
  ASSERT_TRUE(extents) << extents.error().what;
  ASSERT_EQ(extents->all().size(), 2U);
  const uint64_t first = library_.address_of("first"), second = library_.address_of("second");
  const uint64_t end = first + library_.length_of("first");
  ASSERT_NE(extents->at(first), nullptr);
  EXPECT_EQ(extents->at(first)->begin, first);
  EXPECT_EQ(extents->at(first)->end, end);
  EXPECT_EQ(extents->at(end - 1), extents->at(first));
  EXPECT_EQ(extents->at(end), nullptr);  // what lies between two is in none
  EXPECT_EQ(extents->at(first - 1), nullptr);
  EXPECT_EQ(extents->at(second)->begin, second);
}

TEST_P(FunctionExtentsTest, without_the_tables_themselves_no_end_is_known) {
  const auto bytes = library_.without_tables().make();
  const auto extents = FunctionExtents::read(*ElfFile::over(bytes));
  ASSERT_TRUE(extents) << extents.error().what;
  ASSERT_EQ(extents->all().size(), 2U);
  EXPECT_EQ(extents->all()[0].begin, library_.address_of("first"));
  EXPECT_EQ(extents->at(library_.address_of("first")), nullptr);
}

TEST_P(FunctionExtentsTest, an_entry_that_begins_elsewhere_than_the_index_says_is_not_believed) {
  const auto bytes = library_.with_entries_moved().make();
  const auto extents = FunctionExtents::read(*ElfFile::over(bytes));
  ASSERT_TRUE(extents) << extents.error().what;
  EXPECT_EQ(extents->at(library_.address_of("first")), nullptr);
}

}  // namespace
}  // namespace tarsier::linux
