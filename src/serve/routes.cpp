#include "serve/routes.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <nlohmann/json.hpp>

namespace tarsier::serve {
namespace {

// Whatever else comes from here is data: nothing in it runs, even if somebody opens it as a page.
constexpr const char* kInertPolicy = "default-src 'none'; frame-ancestors 'none'; sandbox";
constexpr const char* kJson = "application/json";
constexpr const char* kBinary = "application/octet-stream";
constexpr std::string_view kStatus = "/api/status", kParts = "/api/parts/";

Response with(int code, const std::string& type, const std::string& policy, SharedBytes body) {
  Response response;
  response.code = code;
  response.body = std::move(body);
  response.headers = {
      {"Content-Type", type},
      {"Content-Security-Policy", policy},
      {"X-Content-Type-Options", "nosniff"},
      {"X-Frame-Options", "DENY"},
      {"Referrer-Policy", "no-referrer"},
      {"Cache-Control", "no-store"},
      {"Cross-Origin-Resource-Policy", "same-origin"},
      {"Cross-Origin-Opener-Policy", "same-origin"},
  };
  return response;
}

Response with_text(int code, const std::string& text) {
  return with(code, "text/plain; charset=utf-8", kInertPolicy, std::make_shared<const std::string>(text + "\n"));
}

Response with_part(const Part& part, const Request& request, const std::string& type, const std::string& policy) {
  const bool gzip = part.gzip != nullptr && accepts_gzip(request.header("Accept-Encoding").value);
  Response response = with(200, type, policy, gzip ? part.gzip : part.plain);
  if (gzip) response.headers.emplace_back("Content-Encoding", "gzip");
  return response;
}

std::string status_text(const Content::Now& now) {
  nlohmann::json status;
  switch (now.progress.state) {
    case Progress::State::kReading:
      status = {{"state", "reading"}, {"done", now.progress.done}};
      break;
    case Progress::State::kReady:
      status = {{"state", "ready"}};
      break;
    case Progress::State::kFailed:
      status = {{"state", "failed"}, {"message", now.progress.message}};
      break;
  }
  status["parts"] = now.parts->number;
  return status.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

// "?of=3"; 0 if that is not what it says.
uint64_t wanted_number(std::string_view query) {
  constexpr std::string_view kOf = "?of=";
  uint64_t number = 0;
  if (!query.starts_with(kOf)) return 0;
  query.remove_prefix(kOf.size());
  const auto [end, error] = std::from_chars(query.data(), query.data() + query.size(), number);
  return error == std::errc() && end == query.data() + query.size() ? number : 0;
}

Response part_named(std::string_view name, std::string_view query, const Request& request, const Content& content) {
  const Content::Now now = content.now();
  if (!query.empty() && wanted_number(query) != now.parts->number)
    return with_text(410, "these parts have been renewed");
  const auto found = now.parts->by_name.find(name);
  if (found == now.parts->by_name.end()) return with_text(404, "there is no such part");
  return with_part(found->second, request, name == "head" ? kJson : kBinary, kInertPolicy);
}

Response route(std::string_view path, std::string_view query, const Request& request, const Identity& identity,
               const ServedPage& page, const Content& content) {
  if (path.empty()) {
    // Without its last slash: what the page asks for is relative to its address.
    Response moved = with_text(308, "here is the page: " + identity.address());
    moved.headers.emplace_back("Location", "/" + identity.token + "/");
    return moved;
  }
  if (path == "/") return with_part(page.html, request, "text/html; charset=utf-8", page.policy);
  if (path == kStatus) {
    return with(200, kJson, kInertPolicy, std::make_shared<const std::string>(status_text(content.now())));
  }
  if (path.starts_with(kParts)) return part_named(path.substr(kParts.size()), query, request, content);
  return with_text(404, "there is nothing here");
}

}  // namespace

Response answer(const Request& request, const Identity& identity, const ServedPage& page, const Content& content) {
  Response response;
  if (const auto refusal = refuse(request, identity)) {
    response = with_text(refusal->code, refusal->why);
    if (refusal->code == 405) response.headers.emplace_back("Allow", "GET, HEAD");
  } else {
    const std::string_view rest = *behind_token(request.target, identity);
    const size_t path = std::min(rest.find('?'), rest.size());
    response = route(rest.substr(0, path), rest.substr(path), request, identity, page, content);
  }
  response.body_asked = request.method != "HEAD";
  return response;
}

}  // namespace tarsier::serve
