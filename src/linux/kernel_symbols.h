// Names of kernel addresses, from /proc/kallsyms. The file has hundreds of thousands of lines and takes 20 to 100 ms to
// read, so it is neither kept nor read for each address: learn() reads it once for all addresses that are new, and
// remembers the functions around them.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

namespace tarsier::linux {

class KernelSymbols {
 public:
  explicit KernelSymbols(std::string path = "/proc/kallsyms") : path_(std::move(path)) {}
  // True if the kernel shows real addresses to us (kptr_restrict).
  [[nodiscard]] bool available() const;

  // nullptr if learn() has not seen its function yet, or could not find out: the file may be out of reach by now.
  [[nodiscard]] const std::string* find(uint64_t address) const;
  void learn(std::span<const uint64_t> addresses);

 private:
  struct Function {
    uint64_t end = 0;
    std::string name;
  };
  std::string path_;
  std::map<uint64_t, Function> functions_;  // by start
};

}  // namespace tarsier::linux
