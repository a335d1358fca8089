// What a browser, or somebody who pretends to be one, has asked for.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tarsier::serve {

struct Request {
  std::string method;  // GET; empty: one that nobody knows
  std::string target;  // as it was sent: /TOKEN/api/status?x
  std::vector<std::pair<std::string, std::string>> headers;

  struct Header {
    size_t times = 0;        // how often it is there
    std::string_view value;  // the first
  };
  // Whatever the case of its name.
  [[nodiscard]] Header header(std::string_view name) const;
};

// May the answer be compressed by gzip, as Accept-Encoding says?
bool accepts_gzip(std::string_view accept_encoding);

}  // namespace tarsier::serve
