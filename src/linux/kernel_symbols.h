// Names of kernel addresses, from /proc/kallsyms. The file has hundreds of thousands of lines, so it is not kept: each
// resolve() reads it once for all the addresses asked for; the caller remembers the answers.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tarsier::linux {

class KernelSymbols {
 public:
  explicit KernelSymbols(std::string path = "/proc/kallsyms") : path_(std::move(path)) {}
  // True if the kernel shows real addresses to us (kptr_restrict).
  [[nodiscard]] bool available() const;
  // One name for each address; "[kernel]" where it has none.
  [[nodiscard]] std::vector<std::string> resolve(std::span<const uint64_t> addresses) const;

 private:
  std::string path_;
};

}  // namespace tarsier::linux
