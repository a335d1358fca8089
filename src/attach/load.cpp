#include "attach/load.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>

namespace tarsier::attach {
namespace {

constexpr size_t kMaxReply = 64 << 10;

Error refused_load(std::string what) {
  return Error{Errc::kNotPermitted, std::move(what)};
}

bool parse_int(std::string_view text, int& value) {
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && rest == text.data() + text.size();
}

std::string one_line(std::string_view text) {
  std::string line(text);
  while (!line.empty() && line.back() == '\n') line.pop_back();
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

}  // namespace

Status parse_load_reply(std::string_view reply) {
  const auto parsed = parse_reply(reply);
  if (!parsed) return parsed.error();
  const std::string text = one_line(parsed->text);
  if (text.find("Dynamic agent loading is not enabled") != std::string::npos) {
    return refused_load(
        "the JVM was started with -XX:-EnableDynamicAgentLoading: start it without that, or record it from "
        "its start by: tarsier record -- java ...");
  }

  std::string_view code_text = text;
  constexpr std::string_view kPrefix = "return code: ";
  if (code_text.starts_with(kPrefix)) code_text.remove_prefix(kPrefix.size());
  int agent_code = 0;
  if (parsed->code != 0 || !parse_int(code_text, agent_code)) {
    return refused_load("the JVM could not load the agent" + (text.empty() ? std::string() : ": " + text));
  }
  if (agent_code != 0) return refused_load("the agent refused to start (code " + std::to_string(agent_code) + ")");
  return {};
}

std::optional<Status> PendingLoad::advance() {
  char buffer[4096];
  for (;;) {
    const ssize_t n = ::recv(socket_.get(), buffer, sizeof buffer, MSG_DONTWAIT);
    if (n > 0) {
      reply_.append(buffer, std::min(static_cast<size_t>(n), kMaxReply - reply_.size()));
    } else if (n == 0 || (errno != EINTR && errno != EAGAIN)) {
      socket_.reset();
      return parse_load_reply(reply_);
    } else if (errno == EAGAIN) {
      return std::nullopt;
    }
  }
}

Result<PendingLoad> request_load(const Jvm& jvm, const LoadRequest& request) {
  const std::array<std::string, 4> words = {"load", request.library, "true", request.options};
  auto socket = send_request(jvm, words, request.patience);
  if (!socket) return std::move(socket).error();
  return PendingLoad(std::move(*socket));
}

}  // namespace tarsier::attach
