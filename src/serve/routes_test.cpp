#include "serve/routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "export/gzip_for_test.h"

namespace tarsier::serve {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const Identity kUs{4711, "0123456789abcdef0123456789abcdef"};
constexpr std::string_view kTemplate =
    "<html><meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; connect-src 'none'; script-src "
    "'sha256-x'\">"
    "<body><!--tarsier:data--><script>run()</script></body></html>";

class Routes : public ::testing::Test {
 protected:
  Routes() : page_(*ServedPage::of(kTemplate)) {}

  Response ask(const std::string& path, const std::string& encoding = "", const std::string& method = "GET") {
    Request request{method, "/" + kUs.token + path, {{"Host", "127.0.0.1:4711"}}};
    if (!encoding.empty()) request.headers.emplace_back("Accept-Encoding", encoding);
    return answer(request, kUs, page_, content_);
  }
  static std::map<std::string, std::string> headers(const Response& response) {
    return {response.headers.begin(), response.headers.end()};
  }

  ServedPage page_;
  Content content_;
};

TEST_F(Routes, the_page_may_ask_the_server_and_nobody_else) {
  const Response page = ask("/");
  EXPECT_EQ(page.code, 200);
  EXPECT_EQ(headers(page)["Content-Type"], "text/html; charset=utf-8");
  EXPECT_EQ(headers(page)["Content-Security-Policy"],
            "default-src 'none'; connect-src 'self'; script-src 'sha256-x'; frame-ancestors 'none'");
  EXPECT_THAT(*page.body, HasSubstr("content=\"default-src 'none'; connect-src 'self'; script-src 'sha256-x'\""));
  EXPECT_THAT(*page.body, HasSubstr("<script type=\"application/json\" id=\"tarsier-server\">{}</script>"));
  EXPECT_THAT(*page.body, Not(HasSubstr("tarsier:data")));
  EXPECT_EQ(*ask("/?any=thing").body, *page.body);
}

TEST_F(Routes, a_page_without_its_places_is_refused) {
  EXPECT_FALSE(ServedPage::of("<html></html>").ok());
  EXPECT_FALSE(ServedPage::of("<!--tarsier:data-->").ok());
  EXPECT_FALSE(ServedPage::of("<meta http-equiv=\"Content-Security-Policy\" content=\"x").ok());
  EXPECT_FALSE(
      ServedPage::of("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src *\"><!--tarsier:data-->")
          .ok());
}

TEST_F(Routes, every_answer_has_the_headers_that_keep_others_out) {
  content_.ready({{"head", "{}"}, {"threads", "x"}});
  for (const char* path : {"/", "", "/api/status", "/api/parts/head", "/api/parts/threads", "/nothing"}) {
    for (const std::string method : {"GET", "HEAD", "POST"}) {
      auto has = headers(ask(path, "", method));
      EXPECT_EQ(has["X-Content-Type-Options"], "nosniff") << path;
      EXPECT_EQ(has["X-Frame-Options"], "DENY") << path;
      EXPECT_EQ(has["Referrer-Policy"], "no-referrer") << path;
      EXPECT_EQ(has["Cache-Control"], "no-store") << path;
      EXPECT_EQ(has["Cross-Origin-Resource-Policy"], "same-origin") << path;
      EXPECT_EQ(has["Cross-Origin-Opener-Policy"], "same-origin") << path;
      EXPECT_THAT(has["Content-Security-Policy"], HasSubstr("default-src 'none'")) << path;
      EXPECT_EQ(has.count("Access-Control-Allow-Origin"), 0U);
    }
  }
}

TEST_F(Routes, status_tells_how_far_it_is) {
  EXPECT_EQ(*ask("/api/status").body, R"({"done":0.0,"parts":0,"state":"reading"})");
  content_.reading(0.25);
  EXPECT_EQ(*ask("/api/status").body, R"({"done":0.25,"parts":0,"state":"reading"})");
  content_.renew({{"head", "{}"}}, 0.5);
  EXPECT_EQ(*ask("/api/status").body, R"({"done":0.5,"parts":1,"state":"reading"})");
  content_.ready({{"head", "{}"}});
  EXPECT_EQ(*ask("/api/status").body, R"({"parts":2,"state":"ready"})");
}

TEST_F(Routes, a_failure_is_told_whatever_is_in_its_words) {
  content_.fail("</script>\xff\"");
  const Response status = ask("/api/status");
  EXPECT_EQ(*status.body, "{\"message\":\"</script>\\ufffd\\\"\",\"parts\":0,\"state\":\"failed\"}");
  EXPECT_EQ(headers(status)["Content-Type"], "application/json");
}

TEST_F(Routes, parts_are_handed_out_as_they_are) {
  const std::string bytes("\0<b>\xff", 5);
  content_.ready({{"head", "{\"title\":\"<b>\"}"}, {"profile-cpu", bytes}});
  EXPECT_EQ(*ask("/api/parts/head").body, "{\"title\":\"<b>\"}");
  EXPECT_EQ(headers(ask("/api/parts/head"))["Content-Type"], "application/json");
  EXPECT_EQ(*ask("/api/parts/profile-cpu").body, bytes);
  EXPECT_EQ(headers(ask("/api/parts/profile-cpu"))["Content-Type"], "application/octet-stream");
  for (const char* path :
       {"/api/parts/", "/api/parts/other", "/api/parts/HEAD", "/api/parts/../head", "/api/parts/head/",
        "/api/parts/%68ead", "/api/parts//head", "/api/parts", "/api//parts/head", "/api/status/",
        "/../../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//", "/."}) {
    EXPECT_EQ(ask(path).code, 404) << path;
  }
}

TEST_F(Routes, parts_of_another_number_are_gone) {
  content_.renew({{"head", "{}"}}, 0.5);
  EXPECT_EQ(ask("/api/parts/head?of=1").code, 200);
  for (const char* wrong : {"?of=0", "?of=2", "?of=", "?of=1x", "?", "?of=18446744073709551617", "?of=-1"}) {
    EXPECT_EQ(ask(std::string("/api/parts/head") + wrong).code, 410) << wrong;
  }
  content_.ready({{"head", "{}"}});
  EXPECT_EQ(ask("/api/parts/head?of=1").code, 410);
  EXPECT_EQ(ask("/api/parts/head?of=2").code, 200);
}

TEST_F(Routes, what_is_compressed_is_sent_so_to_those_who_want_it) {
  const std::string large(100'000, 'x');
  content_.ready({{"head", "{}"}, {"threads", large}});
  EXPECT_EQ(headers(ask("/api/parts/threads", "gzip")).count("Content-Encoding"), 0U) << "not yet";
  content_.compress();
  EXPECT_EQ(*ask("/api/parts/threads").body, large);
  const Response small = ask("/api/parts/threads?of=1", "br, gzip");
  EXPECT_EQ(headers(small)["Content-Encoding"], "gzip");
  EXPECT_LT(small.body->size(), 1000U);
  EXPECT_EQ(exporting::unpacked(*small.body), large);
  EXPECT_EQ(headers(ask("/api/parts/head", "gzip")).count("Content-Encoding"), 0U) << "not worth it";
}

TEST_F(Routes, the_address_without_its_last_slash_leads_to_the_page) {
  const Response moved = ask("");
  EXPECT_EQ(moved.code, 308);
  EXPECT_EQ(headers(moved)["Location"], "/" + kUs.token + "/");
}

TEST_F(Routes, head_is_answered_without_a_body_and_others_not_at_all) {
  EXPECT_FALSE(ask("/", "", "HEAD").body_asked);
  EXPECT_EQ(ask("/", "", "HEAD").code, 200);
  EXPECT_EQ(ask("/", "", "POST").code, 405);
  EXPECT_EQ(headers(ask("/", "", "POST"))["Allow"], "GET, HEAD");
}

}  // namespace
}  // namespace tarsier::serve
