#include "export/html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/test_source.h"
#include "export/flame_data.h"
#include "export/flame_head.h"
#include "export/flame_model_for_test.h"
#include "export/page_template.h"

namespace tarsier::exporting {
namespace {

using analysis::FrameType;
using analysis::Model;
using testing::HasSubstr;
using testing::Not;

std::string exported(const Model& model, const std::string& title) {
  std::ostringstream out;
  EXPECT_TRUE(export_html(model, title, out).ok());
  return out.str();
}

std::string decoded_base64(std::string_view text) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  uint32_t bits = 0;
  int have = 0;
  for (const char c : text) {
    if (c == '=') break;
    bits = bits << 6 | static_cast<uint32_t>(kDigits.find(c));
    have += 6;
    if (have >= 8) bytes += static_cast<char>(bits >> (have -= 8) & 0xff);
  }
  return bytes;
}

std::string block(const std::string& page, const std::string& id) {
  const std::string open = "id=\"" + id + "\">";
  const size_t start = page.find(open) + open.size();
  return decoded_base64(std::string_view(page).substr(start, page.find("</script>", start) - start));
}

// The page's own tests decode the same file: writer and reader cannot drift apart.
TEST(FlameData, is_the_bytes_that_the_page_is_tested_with) {
  const Result<FlameTree> tree = build_flame_tree(known_model());
  ASSERT_TRUE(tree.ok());
  std::ifstream fixture(test_source("ui/test/fixtures/known.flame"), std::ios::binary);
  const std::string expected{std::istreambuf_iterator<char>(fixture), {}};
  EXPECT_EQ(encode_flame_tree(*tree), expected);
}

TEST(FlameData, takes_ten_bytes_a_node_at_most) {
  ModelForTest model;
  const auto thread = model.thread("main");
  analysis::StackIndex stack;
  for (int i = 0; i < 50'000; ++i) {
    stack = model.frame(stack, "app.Class" + std::to_string(i % 2'000) + ".method", FrameType::kC2, i % 500);
    model.sample(thread, stack, 1'000'000);
  }
  const Result<FlameTree> tree = build_flame_tree(model.model);
  ASSERT_TRUE(tree.ok());
  EXPECT_LT(encode_flame_tree(*tree).size(), 50'000u * 10 + 2'000u * 30);
}

TEST(FlameHead, says_what_was_recorded) {
  Model model = known_model();
  model.jvm = "17.0.15+6";
  model.pid = 42;
  model.duration = seconds(3);
  model.engines.push_back({.name = "cpu",
                           .mechanism = "agct/perf",
                           .why = "permitted",
                           .interval = millis(1),
                           .taken = 7,
                           .written = 5,
                           .failed = 0,
                           .dropped = {{"ring full", 2}},
                           .counters = {}});
  const auto head = nlohmann::json::parse(encode_flame_head(model, "a title"));
  EXPECT_EQ(head["title"], "a title");
  EXPECT_EQ(head["jvm"], "17.0.15+6");
  EXPECT_EQ(head["pid"], 42);
  EXPECT_EQ(head["duration_ns"], 3'000'000'000);
  EXPECT_EQ(head["engines"][0]["dropped"]["ring full"], 2);
  EXPECT_EQ(head["samples"], nlohmann::json::parse(R"({"count": 5, "failed": 0, "imprecise": 1, "truncated": 0})"));
  EXPECT_EQ(head["unsampled_ns"]["gc"], 3'000'000);
  EXPECT_FALSE(head["verdict"].empty());
}

TEST(FlameHead, replaces_what_is_no_utf8) {
  Model model;
  model.file = "bad\xff\xfe.jfr";
  EXPECT_NO_THROW(encode_flame_head(model, "\xc3"));
  const auto head = nlohmann::json::parse(encode_flame_head(model, "\xc3"));
  EXPECT_THAT(head["file"].get<std::string>(), HasSubstr("\xef\xbf\xbd"));
}

TEST(Html, carries_the_data_in_the_page) {
  const std::string page = exported(known_model(), "known");
  EXPECT_THAT(page, testing::StartsWith("<!doctype html>"));
  EXPECT_THAT(page, Not(HasSubstr("<!--tarsier:data-->")));
  EXPECT_EQ(block(page, "tarsier-flame"), encode_flame_tree(*build_flame_tree(known_model())));
  EXPECT_EQ(nlohmann::json::parse(block(page, "tarsier-head"))["title"], "known");
}

TEST(Html, base64_is_right_for_every_length) {
  for (const char* title : {"", "1", "12", "123", "1234"}) {
    EXPECT_EQ(nlohmann::json::parse(block(exported(known_model(), title), "tarsier-head"))["title"], title);
  }
}

TEST(Html, no_name_of_the_recording_is_markup) {
  const std::string hostile = "</script><img src=x onerror=alert(1)>\"'<!--\xe2\x80\xae\xff";
  ModelForTest model;
  model.sample(model.thread(hostile), model.frame({}, hostile, FrameType::kC2, 1), 1);
  model.sample(model.thread("long"), model.frame({}, std::string(60'000, '<'), FrameType::kC2, 1), 1);
  model.model.file = model.model.jvm = hostile;
  const std::string page = exported(model.model, hostile);
  EXPECT_THAT(page, Not(HasSubstr("onerror")));
  EXPECT_THAT(page, Not(HasSubstr("<<<<")));
  EXPECT_THAT(block(page, "tarsier-flame"), HasSubstr(hostile));
}

TEST(Html, of_an_empty_recording_is_a_page) {
  EXPECT_THAT(exported(Model{}, ""), HasSubstr("tarsier-flame"));
}

TEST(Html, says_when_writing_fails) {
  std::ostringstream out;
  out.setstate(std::ios::badbit);
  const Status status = export_html(known_model(), "", out);
  EXPECT_FALSE(status.ok());
}

TEST(Html, the_embedded_page_loads_nothing) {
  const std::string_view page = page_template();
  EXPECT_THAT(std::string(page), HasSubstr("default-src 'none'"));
  for (const char* loader : {" src=", "@import", "url(", "href=\"http"}) {
    EXPECT_EQ(page.find(loader), std::string_view::npos) << loader;
  }
}

}  // namespace
}  // namespace tarsier::exporting
