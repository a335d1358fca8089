#include "base/result.h"

#include <cstring>

namespace tarsier {

std::string errno_text(int err) {
  const char* text = ::strerrordesc_np(err);  // no locale, no static buffer: safe from every thread
  return text != nullptr ? text : "error " + std::to_string(err);
}

}  // namespace tarsier
