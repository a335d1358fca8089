#include "export/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "analysis/model_maker.h"

namespace tarsier::exporting {
namespace {

using analysis::CompareOptions;
using analysis::Model;
using ::testing::HasSubstr;

// A name that would colour the terminal, end the line and break a JSON string.
constexpr const char* kHostile = "a.B\"\\\n\x1b[31m\xff\u202e.evil";

Model recorded(int hostile) {
  analysis::ModelMaker maker;
  const auto thread = maker.thread("main");
  const auto add = [&](const std::string& stack, int often) {
    for (int i = 0; i < often; ++i) maker.sample(thread, stack, 1'000'000, seconds(10) * i / often);
  };
  add(std::string("app.Main.main;app.Main.run;") + kHostile, hostile);
  add("app.Main.main;app.Main.run;app.Main.fine", 2000);
  maker.model.file = std::string("/tmp/") + kHostile + ".jfr";
  maker.model.jvm = kHostile;
  return std::move(maker.model);
}

std::string text_of(const std::vector<Model>& models, const CompareOptions& options) {
  const auto comparison = analysis::compare(models, options);
  EXPECT_TRUE(comparison.ok());
  return compare_text(*comparison, models, options, 20);
}

nlohmann::json json_of(const std::vector<Model>& models, const CompareOptions& options, size_t top = 20) {
  const auto comparison = analysis::compare(models, options);
  EXPECT_TRUE(comparison.ok());
  return nlohmann::json::parse(compare_json(*comparison, models, options, top));
}

TEST(CompareText, shows_changes_and_lets_no_name_play_with_the_terminal) {
  for (const auto by : {analysis::RowsBy::kSelf, analysis::RowsBy::kTotal, analysis::RowsBy::kContext}) {
    CompareOptions options;
    options.changes.by = by;
    for (const auto& models : {std::vector<Model>{recorded(1000), recorded(2000)},
                               std::vector<Model>{recorded(1000), recorded(2000), recorded(2000)}}) {
      const std::string text = text_of(models, options);
      for (const char c : text) EXPECT_TRUE(static_cast<uint8_t>(c) >= ' ' || c == '\n');
      EXPECT_THAT(text, HasSubstr("\\u{1b}"));
      EXPECT_THAT(text, Not(HasSubstr("\u202e")));
    }
  }
}

TEST(CompareText, shows_a_row_for_each_method_with_its_outcome) {
  const std::string text = text_of({recorded(1000), recorded(2000)}, {});
  EXPECT_THAT(text, HasSubstr("    100 ms    200 ms    +100 ms"));
  EXPECT_THAT(text, HasSubstr("x2.00  slower   a.B"));
  EXPECT_THAT(text, HasSubstr("x1.00  noise    app.Main.fine\n"));
  CompareOptions contexts;
  contexts.changes.by = analysis::RowsBy::kContext;
  EXPECT_THAT(text_of({recorded(1000), recorded(2000)}, contexts), HasSubstr("  < app.Main.run < app.Main.main\n"));
}

TEST(CompareJson, has_changes_of_two_and_consistency_of_more) {
  const auto two = json_of({recorded(1000), recorded(2000)}, {});
  EXPECT_EQ(two["changes"]["rows"].size(), 2u);
  EXPECT_EQ(two["changes"]["rows"][0]["outcome"], "slower");
  EXPECT_EQ(two["changes"]["rows"][0]["before"], 100e6);
  EXPECT_EQ(two["changes"]["significant"], 1);
  EXPECT_EQ(two["overlap"].size(), 3u);
  EXPECT_FALSE(two.contains("consistency"));
  EXPECT_EQ(json_of({recorded(1000), recorded(2000)}, {}, 1)["changes"]["rows"].size(), 1u);
  const auto three = json_of({recorded(1000), recorded(2000), recorded(1)}, {});
  EXPECT_TRUE(three.contains("consistency") && three.contains("average") && !three.contains("changes"));
  EXPECT_EQ(three["recordings"].size(), 3u);
}

}  // namespace
}  // namespace tarsier::exporting
