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

// Where a few symbols are, found by reading the file once and keeping nothing else of it. A variable of each CPU's own
// is an offset there, which may be 0.
class KernelPlaces {
 public:
  static KernelPlaces read(std::vector<std::string> names, const std::string& path = "/proc/kallsyms");

  [[nodiscard]] uint64_t of(std::string_view name) const;      // 0: not known
  [[nodiscard]] uint64_t end_of(std::string_view name) const;  // where the next symbol begins

 private:
  struct Place {
    std::string name;
    uint64_t begin = 0, end = 0;
  };
  [[nodiscard]] const Place* find(std::string_view name) const;

  std::vector<Place> places_;
};

}  // namespace tarsier::linux
