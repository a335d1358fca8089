#include "serve/guard.h"

#include "serve/token.h"

namespace tarsier::serve {
namespace {

constexpr int kForbidden = 403, kNotFound = 404, kNotAllowed = 405, kTooLarge = 413;

bool names_us(std::string_view host, const Identity& identity) {
  const std::string port = ":" + std::to_string(identity.port);
  return host == "127.0.0.1" + port || host == "localhost" + port;
}

bool brings_a_body(const Request& request) {
  const Request::Header length = request.header("Content-Length");
  return request.header("Transfer-Encoding").times > 0 || length.times > 1 ||
         (length.times == 1 && length.value != "0");
}

}  // namespace

std::string Identity::address() const {
  return "http://127.0.0.1:" + std::to_string(port) + "/" + token + "/";
}

std::optional<std::string_view> behind_token(std::string_view target, const Identity& identity) {
  if (!target.starts_with('/')) return std::nullopt;
  target.remove_prefix(1);
  const std::string_view given = target.substr(0, target.find_first_of("/?"));
  if (!same_token(given, identity.token)) return std::nullopt;
  return target.substr(given.size());
}

std::optional<Refusal> refuse(const Request& request, const Identity& identity) {
  const Request::Header host = request.header("Host");
  if (host.times != 1 || !names_us(host.value, identity)) {
    return Refusal{kForbidden, "this address is not the one that tarsier has printed"};
  }
  const Request::Header origin = request.header("Origin");
  if (origin.times > 1 || (origin.times == 1 && origin.value != "http://" + std::string(host.value))) {
    return Refusal{kForbidden, "other pages may not ask"};
  }
  // Told by every browser of today, also where there is no Origin; by no page that could lie about it.
  const Request::Header site = request.header("Sec-Fetch-Site");
  if (site.times > 1 || (site.times == 1 && site.value != "same-origin" && site.value != "none")) {
    return Refusal{kForbidden, "other pages may not ask; open the address itself"};
  }
  if (!behind_token(request.target, identity)) return Refusal{kNotFound, "there is nothing here"};
  if (request.method != "GET" && request.method != "HEAD") return Refusal{kNotAllowed, "only GET"};
  if (brings_a_body(request)) return Refusal{kTooLarge, "requests bring nothing with them"};
  return std::nullopt;
}

}  // namespace tarsier::serve
