// The page of ui/ as the server sends it: without data inside, and allowed to ask the server for it.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "serve/content.h"

namespace tarsier::serve {

struct ServedPage {
  std::string policy;  // the Content-Security-Policy, as a header
  Part html;

  // `page`: exporting::page_template(). Its own policy lets it talk to nobody.
  static Result<ServedPage> of(std::string_view page);
};

}  // namespace tarsier::serve
