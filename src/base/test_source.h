// For tests only: where the checkout is. By the environment and not as a macro, so that what a compiler cache keeps is
// of use in another checkout too.
#pragma once

#include <cstdlib>
#include <string>

namespace tarsier {

inline std::string test_source(const std::string& path) {
  const char* root = std::getenv("TARSIER_SOURCE_DIR");  // set by ctest
  return (root != nullptr ? std::string(root) : ".") + "/" + path;
}

}  // namespace tarsier
