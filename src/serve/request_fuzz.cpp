// Any words as a request: a method, a target and headers, one per line. Without our token, from another host or page,
// nothing may be answered but a refusal; and nothing of a request ever gets into a header of its answer.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <sstream>

#include "serve/routes.h"

namespace {

using namespace tarsier::serve;

const Identity kUs{4711, "0123456789abcdef0123456789abcdef"};

void check(bool holds) {
  if (!holds) std::abort();
}

ServedPage page() {
  auto served = ServedPage::of(
      "<meta http-equiv=\"Content-Security-Policy\" content=\"connect-src 'none'\"><!--tarsier:data--><p>page");
  check(served.ok());
  return *std::move(served);
}

Request request_of(const std::string& text) {
  Request request;
  std::istringstream lines(text);
  std::getline(lines, request.method);
  std::getline(lines, request.target);
  for (std::string line; std::getline(lines, line);) {
    const size_t colon = std::min(line.find(':'), line.size());
    request.headers.emplace_back(line.substr(0, colon), line.substr(std::min(colon + 1, line.size())));
  }
  return request;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const ServedPage kPage = page();
  static Content content;
  if (content.now().parts->number == 0) content.ready({{"head", "{}"}, {"threads", "t"}});

  Request request = request_of(std::string(reinterpret_cast<const char*>(data), size));
  const Response as_sent = answer(request, kUs, kPage, content);
  const bool served = as_sent.code == 200 || as_sent.code == 308;
  check(as_sent.body != nullptr && as_sent.headers.size() >= 8);
  if (served) {
    check(request.target.starts_with("/" + kUs.token));
    check(request.method == "GET" || request.method == "HEAD");
    const std::string_view host = request.header("Host").value;
    check(host == "127.0.0.1:4711" || host == "localhost:4711");
  }
  for (const auto& [name, value] : as_sent.headers) {
    check((name + value).find_first_of("\r\n") == std::string::npos);
  }
  // The same as one that passes the guard, so that what is behind it meets any words, too.
  request.method = "GET";
  request.target = "/" + kUs.token + request.target;
  const std::string encoding(request.header("Accept-Encoding").value);
  request.headers = {{"Host", "localhost:4711"}, {"Accept-Encoding", encoding}};
  const int code = answer(request, kUs, kPage, content).code;
  check(code == 200 || code == 308 || code == 404 || code == 410);
  return 0;
}
