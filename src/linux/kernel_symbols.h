// Names of kernel addresses, from /proc/kallsyms. The file takes 20 to 100 ms to read, so it is read once and kept:
// some 20 bytes per function, of which a kernel has fifty to two hundred thousand.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tarsier::linux {

class KernelSymbols {
 public:
  explicit KernelSymbols(std::string path = "/proc/kallsyms") : path_(std::move(path)) {}
  // True if the kernel shows real addresses to us (kptr_restrict).
  [[nodiscard]] bool available() const;

  // The function that an address lies in; "[kernel]" if that is not known. The first call reads the file.
  [[nodiscard]] std::string_view find(uint64_t address);

 private:
  struct Function {
    uint64_t start;
    uint32_t name, length;  // in names_
  };
  void load();

  std::string path_;
  bool loaded_ = false;
  std::vector<Function> functions_;  // by start
  std::string names_;
};

}  // namespace tarsier::linux
