#include "linux/kernel_symbols.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <memory>
#include <numeric>
#include <string_view>

namespace tarsier::linux {
namespace {

struct Line {
  uint64_t address = 0;
  char type = 0;
  std::string_view name;
};

// "ffffffff81000000 T _text\t[module]"
bool parse(std::string_view text, Line& line) {
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), line.address, 16);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<size_t>(rest - text.data()));
  if (text.size() < 4) return false;
  line.type = text[1];
  line.name = text.substr(3);
  line.name = line.name.substr(0, line.name.find_first_of("\t\n "));
  return true;
}

template <class Visit>
void for_each_line(const std::string& path, Visit&& visit) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "re"), std::fclose);
  if (file == nullptr) return;
  char buffer[1024];
  Line line;
  while (std::fgets(buffer, sizeof(buffer), file.get()) != nullptr) {
    if (parse(buffer, line) && !visit(line)) return;
  }
}

}  // namespace

bool KernelSymbols::available() const {
  bool real = false;
  for_each_line(path_, [&](const Line& line) {
    real = line.address != 0;
    return !real && line.name != "_text";
  });
  return real;
}

std::vector<std::string> KernelSymbols::resolve(std::span<const uint64_t> addresses) const {
  std::vector<size_t> order(addresses.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return addresses[a] < addresses[b]; });

  // The file is sorted but for modules, so nothing can be assumed: each symbol goes to the gap below the first address
  // that is not smaller, and the largest symbol of a gap is the one that counts.
  struct Gap {
    uint64_t address = 0;
    std::string name = "[kernel]";
  };
  std::vector<Gap> gaps(addresses.size());
  for_each_line(path_, [&](const Line& line) {
    if (std::string_view("tTwW").find(line.type) == std::string_view::npos) return true;
    const auto it = std::lower_bound(order.begin(), order.end(), line.address,
                                     [&](size_t index, uint64_t address) { return addresses[index] < address; });
    if (it == order.end()) return true;
    Gap& gap = gaps[static_cast<size_t>(it - order.begin())];
    if (line.address < gap.address) return true;
    gap.address = line.address;
    gap.name = line.name;
    return true;
  });

  std::vector<std::string> names(addresses.size());
  for (size_t i = 0; i < order.size(); ++i) {
    if (gaps[i].address == 0 && i > 0) gaps[i] = gaps[i - 1];  // no symbol between the two: the same function
    names[order[i]] = gaps[i].name;
  }
  return names;
}

}  // namespace tarsier::linux
