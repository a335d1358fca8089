// From a request to its answer: the page, how far the reading is, a part.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "serve/content.h"
#include "serve/guard.h"
#include "serve/request.h"
#include "serve/served_page.h"

namespace tarsier::serve {

struct Response {
  int code = 200;
  std::vector<std::pair<std::string, std::string>> headers;
  SharedBytes body;
  bool body_asked = true;  // not by HEAD
};

// Pure, but for the moment of `content`.
Response answer(const Request& request, const Identity& identity, const ServedPage& page, const Content& content);

}  // namespace tarsier::serve
