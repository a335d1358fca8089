#include "export/html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "export/gzip_for_test.h"
#include "export/page_model_for_test.h"
#include "export/page_template.h"

namespace tarsier::exporting {
namespace {

using analysis::FrameType;
using analysis::Model;
using testing::HasSubstr;
using testing::Not;

std::string exported_page(const Model& model, const std::string& title) {
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

std::string part(const std::string& page, const std::string& name) {
  const std::string open = "<script type=\"application/octet-stream\" id=\"tarsier-part-" + name + "\">";
  const size_t found = page.find(open);
  EXPECT_NE(found, std::string::npos) << name;
  const size_t start = found + open.size();
  return unpacked(decoded_base64(std::string_view(page).substr(start, page.find("</script>", start) - start)));
}

TEST(Html, carries_all_parts_in_the_page) {
  const std::string page = exported_page(known_model(), "known");
  EXPECT_THAT(page, testing::StartsWith("<!doctype html>"));
  EXPECT_THAT(page, Not(HasSubstr("<!--tarsier:data-->")));
  const auto parts = PageParts().make(known_model(), "known");
  ASSERT_TRUE(parts.ok());
  ASSERT_EQ(parts->size(), 3u);
  for (const PagePart& each : *parts) EXPECT_EQ(part(page, each.name), each.bytes);
}

TEST(Html, base64_is_right_for_every_length) {
  for (const char* title : {"", "1", "12", "123", "1234"}) {
    EXPECT_EQ(nlohmann::json::parse(part(exported_page(known_model(), title), "head"))["title"], title);
  }
}

TEST(Html, no_name_of_the_recording_is_markup) {
  const std::string hostile = "</script><img src=x onerror=alert(1)>\"'<!--\xe2\x80\xae";
  ModelForTest model;
  model.sample(model.thread(hostile), model.frame({}, hostile, FrameType::kC2, 1), 1);
  model.sample(model.thread("long"), model.frame({}, std::string(60'000, '<'), FrameType::kC2, 1), 1);
  model.model.file = model.model.jvm = hostile;
  const std::string page = exported_page(model.model, hostile);
  const std::string_view own = page_template();
  const auto count = [](std::string_view text, std::string_view word) {
    size_t times = 0;
    for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) ++times;
    return times;
  };
  EXPECT_EQ(count(page, "onerror=alert"), count(own, "onerror=alert"));
  EXPECT_EQ(count(page, "<<<<"), count(own, "<<<<"));
  EXPECT_EQ(count(page, "</script>"), count(own, "</script>") + 3);
  EXPECT_THAT(part(page, "profile-cpu"), HasSubstr(hostile));
  EXPECT_THAT(part(page, "threads"), HasSubstr(hostile));
}

TEST(Html, of_an_empty_recording_is_a_page) {
  EXPECT_TRUE(nlohmann::json::parse(part(exported_page(Model{}, ""), "head"))["profiles"].empty());
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
