#include "linux/kernel_symbols.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <iterator>
#include <memory>
#include <string_view>
#include <vector>

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

const std::string* KernelSymbols::find(uint64_t address) const {
  const auto after = functions_.upper_bound(address);
  if (after == functions_.begin()) return nullptr;
  const Function& function = std::prev(after)->second;
  return address < function.end ? &function.name : nullptr;
}

void KernelSymbols::learn(std::span<const uint64_t> addresses) {
  std::vector<uint64_t> wanted(addresses.begin(), addresses.end());
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());

  // The file is sorted but for modules, so nothing can be assumed. Each symbol lies in a gap between two wanted
  // addresses: the last symbol of a gap is where the function of the address above it starts, the first one is where
  // the function of the address below it ends.
  struct Gap {
    uint64_t first = UINT64_MAX, last = 0;
    std::string last_name;
  };
  std::vector<Gap> gaps(wanted.size() + 1);
  for_each_line(path_, [&](const Line& line) {
    if (std::string_view("tTwW").find(line.type) == std::string_view::npos || line.address == 0) return true;
    Gap& gap = gaps[static_cast<size_t>(std::lower_bound(wanted.begin(), wanted.end(), line.address) - wanted.begin())];
    gap.first = std::min(gap.first, line.address);
    if (line.address < gap.last) return true;
    gap.last = line.address;
    gap.last_name = line.name;
    return true;
  });

  for (size_t i = 0; i < wanted.size();) {
    // Addresses without a symbol between them belong to one function.
    size_t next = i + 1;
    while (next < wanted.size() && gaps[next].last == 0) ++next;
    const bool named = gaps[i].last != 0;
    functions_[named ? gaps[i].last : wanted[i]] = {std::max(gaps[next].first, wanted[next - 1] + 1),
                                                    named ? gaps[i].last_name : "[kernel]"};
    i = next;
  }
}

}  // namespace tarsier::linux
