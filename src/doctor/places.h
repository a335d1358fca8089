// Where the kernel's files are, and which folder a recording would go to; tests have their own.
#pragma once

#include <string>

namespace tarsier::doctor {

struct Places {
  std::string proc = "/proc";
  std::string sys = "/sys";
  std::string folder = ".";
};

}  // namespace tarsier::doctor
