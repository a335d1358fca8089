// The server over real sockets of this machine, with answers made by hand.
#include "serve/server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <memory>
#include <thread>

#include "base/clock.h"
#include "base/unique_fd.h"

namespace tarsier::serve {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

unique_fd connect_to(uint16_t port) {
  unique_fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return unique_fd();
  return fd;
}
void write_text(const unique_fd& fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL);
    if (n <= 0) return;
    text.remove_prefix(static_cast<size_t>(n));
  }
}
// Until the server closes it.
std::string read_all(const unique_fd& fd) {
  std::string text;
  char buffer[4096];
  for (ssize_t n = 0; (n = ::recv(fd.get(), buffer, sizeof buffer, 0)) > 0;)
    text.append(buffer, static_cast<size_t>(n));
  return text;
}

class ServerTest : public ::testing::Test {
 protected:
  void start(const ServerLimits& limits = {}) {
    auto listening = Server::listen(0, limits);
    ASSERT_TRUE(listening.ok()) << listening.error().what;
    server_ = std::move(*listening);
    end_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    thread_ = std::thread([this] {
      const auto answer = [this](const Request& request) {
        Response response;
        response.headers = {{"X-Method", request.method}, {"X-Target", request.target}};
        response.body = body_;
        response.body_asked = request.method != "HEAD";
        return response;
      };
      EXPECT_TRUE(server_->run(answer, end_.get(), [] { return false; }).ok());
    });
  }
  void TearDown() override {
    const uint64_t one = 1;
    EXPECT_EQ(::write(end_.get(), &one, sizeof one), static_cast<ssize_t>(sizeof one));
    thread_.join();
    server_.reset();
    EXPECT_EQ(body_.use_count(), 1) << "an answer has kept what it sent";
  }
  std::string ask(std::string_view text) {
    const unique_fd fd = connect_to(server_->port());
    write_text(fd, text);
    return read_all(fd);
  }

  SharedBytes body_ = std::make_shared<const std::string>("the body");
  std::unique_ptr<Server> server_;
  unique_fd end_;
  std::thread thread_;
};

TEST_F(ServerTest, answers_each_request_on_a_connection_of_its_own) {
  start();
  const std::string answer = ask("GET /a%20b?c HTTP/1.1\r\nHost: x\r\n\r\nGET /second HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer, HasSubstr("X-Target: /a%20b?c\r\n"));
  EXPECT_THAT(answer, HasSubstr("Connection: close\r\n"));
  EXPECT_THAT(answer, HasSubstr("Content-Length: 8\r\n"));
  EXPECT_TRUE(answer.ends_with("\r\n\r\nthe body"));
  EXPECT_THAT(answer, Not(HasSubstr("/second")));
}

TEST_F(ServerTest, head_has_the_length_but_no_body) {
  start();
  const std::string answer = ask("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(answer, HasSubstr("Content-Length: 8\r\n"));
  EXPECT_TRUE(answer.ends_with("\r\n\r\n"));
}

TEST_F(ServerTest, a_large_body_comes_whole) {
  std::string large;
  while (large.size() < 20'000'000) large += std::to_string(large.size());
  body_ = std::make_shared<const std::string>(large);
  start();
  const std::string answer = ask("GET / HTTP/1.0\r\n\r\n");
  EXPECT_EQ(answer.substr(answer.find("\r\n\r\n") + 4), large);
}

TEST_F(ServerTest, refuses_what_is_too_long_or_no_http) {
  start();
  for (const std::string& bad : {"GET /" + std::string(40'000, 'a') + " HTTP/1.1\r\nHost: x\r\n\r\n",
                                 "GET / HTTP/1.1\r\nHost: x\r\nA: " + std::string(40'000, 'a') + "\r\n\r\n",
                                 std::string("\x16\x03\x01\x02\r\n\r\n"), std::string("GET\r\n\r\n"),
                                 std::string("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello")}) {
    EXPECT_THAT(ask(bad), Not(HasSubstr(" 200 "))) << bad.substr(0, 40);
  }
  EXPECT_THAT(ask("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), HasSubstr(" 200 ")) << "and goes on";
}

TEST_F(ServerTest, half_a_request_is_given_up_even_if_it_drips_on) {
  start({.request = millis(700)});
  const unique_fd slow = connect_to(server_->port());
  const Nanos begin = monotonic_now();
  std::thread dripping([&] {
    for (int i = 0; i < 200; ++i) {
      const char c = i == 0 ? 'G' : 'E';
      if (::send(slow.get(), &c, 1, MSG_NOSIGNAL) != 1) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  });
  EXPECT_THAT(ask("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), HasSubstr(" 200 ")) << "others are served meanwhile";
  EXPECT_EQ(read_all(slow), "");
  EXPECT_LT(monotonic_now() - begin, seconds(8));
  dripping.join();
}

TEST_F(ServerTest, who_does_not_take_the_answer_is_given_up) {
  body_ = std::make_shared<const std::string>(50'000'000, 'x');
  start({.response = millis(700)});
  const unique_fd lazy = connect_to(server_->port());
  write_text(lazy, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  for (int i = 0; i < 1000 && body_.use_count() == 1; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  for (int i = 0; i < 1000 && body_.use_count() > 1; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(body_.use_count(), 1);
  EXPECT_LT(read_all(lazy).size(), 50'000'000U);
}

TEST_F(ServerTest, more_connections_than_allowed_wait_for_their_turn) {
  start({.connections = 4, .request = millis(700)});
  std::vector<unique_fd> idle;
  for (int i = 0; i < 10; ++i) idle.push_back(connect_to(server_->port()));
  EXPECT_THAT(ask("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), HasSubstr(" 200 "));
}

TEST(Server, a_port_that_is_taken_is_an_error_that_names_it) {
  const auto one = Server::listen(0);
  ASSERT_TRUE(one.ok());
  const auto two = Server::listen((*one)->port());
  ASSERT_FALSE(two.ok());
  EXPECT_THAT(two.error().what, HasSubstr("port " + std::to_string((*one)->port())));
}

}  // namespace
}  // namespace tarsier::serve
