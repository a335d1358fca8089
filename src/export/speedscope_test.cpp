#include "export/speedscope.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "analysis/model_maker.h"
#include "export/page_model_for_test.h"

namespace tarsier::exporting {
namespace {

using Json = nlohmann::json;

std::string exported_speedscope(const analysis::Model& model, const SpeedscopeBounds& bounds = {}) {
  std::ostringstream out;
  const Status status = export_speedscope(model, out, bounds);
  EXPECT_TRUE(status.ok()) << status.error().what;
  return out.str();
}

TEST(Speedscope, shows_a_known_recording) {
  analysis::Model model = known_model();
  model.file = "folder/known.jfr";
  EXPECT_EQ(
      exported_speedscope(model),
      R"({"$schema":"https://www.speedscope.app/file-format-schema.json","exporter":"tarsier","name":"known.jfr",)"
      R"("activeProfileIndex":0,"profiles":[)"
      R"({"type":"sampled","name":"all threads","unit":"nanoseconds","startValue":0,"endValue":13500000,)"
      R"("samples":[[0,1],[0,1,2],[0,3],[4],[1]],"weights":[2000000,7000000,1000000,3000000,500000]},)"
      "\n"
      R"({"type":"sampled","name":"main [tid 101]","unit":"nanoseconds","startValue":0,"endValue":10000000,)"
      R"("samples":[[0,1],[0,1,2],[0,3]],"weights":[2000000,7000000,1000000]},)"
      "\n"
      R"({"type":"sampled","name":"pool-1 [tid 102]","unit":"nanoseconds","startValue":0,"endValue":500000,)"
      R"("samples":[[1]],"weights":[500000]}],)"
      R"("shared":{"frames":[{"name":"app.Main.main","file":"app/Main.java"},)"
      "\n"
      R"({"name":"app.Main.hot","file":"app/Main.java"},)"
      "\n"
      R"({"name":"app.Main.inner","file":"app/Main.java"},)"
      "\n"
      R"({"name":"app.Main.cold","file":"app/Main.java"},)"
      "\n"
      R"({"name":"[GC]"}]}})"
      "\n");
}

// Sum of the weights of a profile whose innermost frame has that name.
int64_t self_of(const Json& document, size_t profile, const std::string& name) {
  const Json& one = document["profiles"][profile];
  int64_t sum = 0;
  for (size_t i = 0; i < one["samples"].size(); ++i) {
    const Json& stack = one["samples"][i];
    if (document["shared"]["frames"][stack.back().get<size_t>()]["name"] == name)
      sum += one["weights"][i].get<int64_t>();
  }
  return sum;
}

TEST(Speedscope, what_is_too_much_is_folded_and_nothing_is_lost) {
  analysis::ModelMaker maker;
  for (int t = 0; t < 5; ++t) {
    const auto thread = maker.thread("t" + std::to_string(t));
    for (int i = 1; i <= 20; ++i) maker.sample(thread, "main;call" + std::to_string(i), i * (5 - t));
    maker.sample(thread, "main;r;r;r;r;r;r;r;r", 10'000);
  }
  const Json document = Json::parse(exported_speedscope(maker.model, {.calls = 12, .threads = 2, .depth = 4}));
  ASSERT_EQ(document["profiles"].size(), 3U);
  EXPECT_EQ(document["profiles"][1]["name"], "t0 [tid 100]");
  const Json& all = document["profiles"][0];
  int64_t sum = 0;
  for (const Json& weight : all["weights"]) sum += weight.get<int64_t>();
  EXPECT_EQ(sum, all["endValue"]);
  EXPECT_EQ(sum, 210 * 15 + 50'000);
  EXPECT_LE(all["samples"].size(), 14U);
  for (const Json& stack : all["samples"]) EXPECT_LE(stack.size(), 5U);
  EXPECT_EQ(self_of(document, 0, "[deeper]"), 50'000);
  EXPECT_GT(self_of(document, 0, "[smaller calls]"), 0);
  EXPECT_EQ(self_of(document, 0, "call20"), 20 * 15);
  EXPECT_EQ(self_of(document, 0, "call1"), 0);
}

TEST(Speedscope, names_come_out_harmless_and_a_recording_without_samples_is_one_too) {
  analysis::ModelMaker maker;
  const auto thread = maker.thread("\x1b]0;x\x07\xff\"");
  maker.sample(thread, "a\nb\xe2\x80\xae", 1);
  const Json document = Json::parse(exported_speedscope(maker.model));
  EXPECT_EQ(document["profiles"][1]["name"], "\\u{1b}]0;x\\u{7}\\x{ff}\" [tid 100]");
  EXPECT_EQ(document["shared"]["frames"][0]["name"], "a\\u{a}b\\u{202e}");
  EXPECT_EQ(Json::parse(exported_speedscope(ModelForTest().model))["profiles"].size(), 1U);
}

TEST(Speedscope, a_stream_that_fails_is_an_error) {
  std::ostringstream out;
  out.setstate(std::ios::badbit);
  EXPECT_FALSE(export_speedscope(known_model(), out).ok());
}

}  // namespace
}  // namespace tarsier::exporting
