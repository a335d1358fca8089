#include "linux/cpus.h"

#include <charconv>
#include <fstream>

namespace tarsier::linux {
namespace {

std::vector<int> read_list(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return parse_cpu_list(line);
}

}  // namespace

std::vector<int> parse_cpu_list(std::string_view text) {
  constexpr int kMost = 1 << 16;
  std::vector<int> cpus;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    int first = 0;
    std::from_chars_result read = std::from_chars(at, end, first);
    if (read.ec != std::errc()) return {};
    int last = first;
    if (read.ptr != end && *read.ptr == '-') read = std::from_chars(read.ptr + 1, end, last);
    if (read.ec != std::errc() || first < 0 || last < first || last >= kMost) return {};
    for (int cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
    if (read.ptr == end) return cpus;
    if (*read.ptr != ',') return {};
    at = read.ptr + 1;
  }
  return {};
}

std::vector<int> online_cpus() {
  return read_list("/sys/devices/system/cpu/online");
}

size_t possible_cpus() {
  const std::vector<int> cpus = read_list("/sys/devices/system/cpu/possible");
  return cpus.empty() ? 1 : static_cast<size_t>(cpus.back()) + 1;
}

}  // namespace tarsier::linux
