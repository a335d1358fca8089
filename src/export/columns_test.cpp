#include "export/columns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "export/columns_for_test.h"

namespace tarsier::exporting {
namespace {

using testing::ElementsAre;

TEST(Columns, are_the_bytes_that_the_page_reads) {
  ColumnWriter writer;
  writer.numbers("n", {1, 300});
  writer.differences("d", {5, 3});
  writer.texts("t", {"ab", "", "c"});
  writer.sparse("s", {0, 7, 0, 9});
  EXPECT_EQ(std::move(writer).finish(), std::string("tarsier-columns-1\n\x04"
                                                    "\x01n\x00\x02\x03\x01\xac\x02"
                                                    "\x01"
                                                    "d\x01\x02\x02\x0a\x03"
                                                    "\x01t\x02\x03\x06\x02\x00\x01"
                                                    "abc"
                                                    "\x01s\x03\x04\x04\x02\x07\x02\x09",
                                                    18 + 1 + 8 + 7 + 11 + 9));
}

TEST(Columns, come_back_as_they_were) {
  const std::vector<int64_t> numbers = {0, 1, 127, 128, kMaxColumnNumber};
  const std::vector<int64_t> times = {0, 1'000'000'000'000, 999'999'999'999, -5, 0};
  const std::vector<std::string> texts = {"", "main", "\xe2\x82\xac", std::string("\0<", 2)};
  const std::vector<int64_t> mostly_none = {0, 0, 3, 0, kMaxColumnNumber};
  ColumnWriter writer;
  writer.numbers("numbers", numbers);
  writer.differences("times", times);
  writer.texts("texts", texts);
  writer.sparse("sparse", mostly_none);
  writer.numbers("none", {});
  writer.texts("no texts", {});
  const ColumnsForTest columns(std::move(writer).finish());
  EXPECT_EQ(columns.numbers("numbers"), numbers);
  EXPECT_EQ(columns.numbers("times"), times);
  EXPECT_EQ(columns.texts("texts"), texts);
  EXPECT_EQ(columns.numbers("sparse"), mostly_none);
  EXPECT_TRUE(columns.has("none"));
  EXPECT_TRUE(columns.has("no texts"));
}

TEST(Columns, cut_what_the_page_cannot_count) {
  ColumnWriter writer;
  writer.numbers("numbers", {-1, INT64_MIN, INT64_MAX});
  writer.sparse("sparse", {-1, INT64_MAX});
  const ColumnsForTest columns(std::move(writer).finish());
  EXPECT_THAT(columns.numbers("numbers"), ElementsAre(0, 0, kMaxColumnNumber));
  EXPECT_THAT(columns.numbers("sparse"), ElementsAre(0, kMaxColumnNumber));
}

TEST(Columns, of_differences_are_right_again_after_a_step_that_was_too_large) {
  ColumnWriter writer;
  writer.differences("times", {1, INT64_MAX, INT64_MAX, INT64_MAX, 7, 7, 7, 8});
  const ColumnsForTest columns(std::move(writer).finish());
  const std::vector<int64_t> times = columns.numbers("times");
  EXPECT_EQ(times[0], 1);
  EXPECT_EQ(times[3], kMaxColumnNumber);
  EXPECT_EQ(times[6], 7);
  EXPECT_EQ(times[7], 8);
}

TEST(Columns, replace_bytes_that_are_no_utf8) {
  ColumnWriter writer;
  writer.texts("texts", {"a\xff\xfe", "\xe2\x82", "\xc3\xa4"});
  const ColumnsForTest columns(std::move(writer).finish());
  EXPECT_THAT(columns.texts("texts"), ElementsAre("a\xef\xbf\xbd\xef\xbf\xbd", "\xef\xbf\xbd\xef\xbf\xbd", "\xc3\xa4"));
}

}  // namespace
}  // namespace tarsier::exporting
