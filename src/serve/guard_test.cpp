#include "serve/guard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "serve/token.h"

namespace tarsier::serve {
namespace {

const Identity kUs{4711, "0123456789abcdef0123456789abcdef"};

Request request(std::string target = "/" + kUs.token + "/") {
  return {"GET", std::move(target), {{"Host", "127.0.0.1:4711"}}};
}
int code_of(const Request& request) {
  const auto refusal = refuse(request, kUs);
  return refusal ? refusal->code : 200;
}
Request with(std::string name, std::string value) {
  Request changed = request();
  changed.headers.emplace_back(std::move(name), std::move(value));
  return changed;
}

TEST(Guard, lets_our_own_page_ask) {
  EXPECT_EQ(code_of(request()), 200);
  EXPECT_EQ(code_of(request("/" + kUs.token + "/api/status?x=1")), 200);
  EXPECT_EQ(code_of(with("Origin", "http://127.0.0.1:4711")), 200);
  EXPECT_EQ(code_of(with("sec-fetch-site", "same-origin")), 200);
  EXPECT_EQ(code_of(with("Sec-Fetch-Site", "none")), 200);
  Request by_name = with("Origin", "http://localhost:4711");
  by_name.headers[0].second = "localhost:4711";
  EXPECT_EQ(code_of(by_name), 200);
}

TEST(Guard, refuses_other_hosts) {
  for (const char* host :
       {"", "127.0.0.1", "127.0.0.1:4712", "127.0.0.1:47110", "localhost", "LOCALHOST:4711", "evil.example:4711",
        "evil.example", "127.0.0.1:4711.evil.example", "127.0.0.1.:4711", "[::1]:4711", "0.0.0.0:4711",
        "x@127.0.0.1:4711", "127.0.0.1:4711, 127.0.0.1:4711", "127.1:4711", "2130706433:4711"}) {
    Request foreign = request();
    foreign.headers[0].second = host;
    EXPECT_EQ(code_of(foreign), 403) << host;
  }
  Request none = request();
  none.headers.clear();
  EXPECT_EQ(code_of(none), 403);
  EXPECT_EQ(code_of(with("HOST", "127.0.0.1:4711")), 403) << "twice";
}

TEST(Guard, refuses_other_origins) {
  for (const char* origin : {"", "null", "http://evil.example", "https://127.0.0.1:4711", "http://127.0.0.1:4712",
                             "http://127.0.0.1", "http://localhost:4711", "http://127.0.0.1:4711/", "file://"}) {
    EXPECT_EQ(code_of(with("Origin", origin)), 403) << origin;
  }
  Request twice = with("Origin", "http://127.0.0.1:4711");
  twice.headers.emplace_back("origin", "http://evil.example");
  EXPECT_EQ(code_of(twice), 403);
}

TEST(Guard, refuses_what_other_sites_have_caused) {
  for (const char* site : {"cross-site", "same-site", "", "None", "anything"}) {
    EXPECT_EQ(code_of(with("Sec-Fetch-Site", site)), 403) << site;
  }
}

TEST(Guard, wants_the_token_exactly) {
  std::string upper = kUs.token;
  for (char& c : upper) c = static_cast<char>(std::toupper(c));
  for (const std::string& target :
       {std::string("/"), std::string(), std::string("/favicon.ico"), "/" + upper + "/",
        "/" + kUs.token.substr(1) + "/", "/" + kUs.token + "0/", "//" + kUs.token + "/", "/x/../" + kUs.token + "/",
        "/%30" + kUs.token.substr(1) + "/", kUs.token + "/", "http://127.0.0.1:4711/" + kUs.token + "/",
        "/?" + kUs.token, "/" + kUs.token + "%2f", "*" + kUs.token}) {
    EXPECT_EQ(code_of(request(target)), 404) << target;
  }
}

TEST(Guard, knows_only_get_and_head_and_takes_no_body) {
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "TRACE", "", "get"}) {
    Request other = request();
    other.method = method;
    EXPECT_EQ(code_of(other), 405) << method;
    other.target = "/";
    EXPECT_EQ(code_of(other), 404) << "without the token nothing is told";
  }
  EXPECT_EQ(code_of(with("Content-Length", "0")), 200);
  EXPECT_EQ(code_of(with("Content-Length", "5")), 413);
  EXPECT_EQ(code_of(with("Transfer-Encoding", "chunked")), 413);
}

TEST(Guard, refusals_repeat_nothing_of_the_request) {
  Request hostile = request("/<script>");
  hostile.headers[0].second = "<script>";
  EXPECT_THAT(refuse(hostile, kUs)->why, testing::Not(testing::HasSubstr("<")));
}

TEST(Token, is_another_each_time_and_compared_as_a_whole) {
  const auto a = random_token(), b = random_token();
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_EQ(a->size(), 32U);
  EXPECT_EQ(a->find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_NE(*a, *b);
  EXPECT_TRUE(same_token(*a, *a));
  EXPECT_FALSE(same_token(a->substr(0, 31), *a));
  EXPECT_FALSE(same_token("", *a));
  for (size_t i = 0; i < a->size(); ++i) {
    std::string other = *a;
    other[i] = other[i] == 'f' ? '0' : 'f';
    EXPECT_FALSE(same_token(other, *a)) << i;
  }
}

TEST(Request, says_whether_gzip_is_welcome) {
  for (const char* yes : {"gzip", "gzip, deflate, br", "br;q=1.0, GZIP;q=0.8", "deflate,gzip;q=0.001", " gzip "}) {
    EXPECT_TRUE(accepts_gzip(yes)) << yes;
  }
  for (const char* no : {"", "identity", "br", "gzip;q=0", "gzip; q=0.000", "x-gzip", "*", ",,;", "gzipped"}) {
    EXPECT_FALSE(accepts_gzip(no)) << no;
  }
}

}  // namespace
}  // namespace tarsier::serve
