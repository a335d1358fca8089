#include "linux/mappings.h"

#include <charconv>
#include <cstdio>
#include <cstring>
#include <memory>

namespace tarsier::linux {

uint64_t mapping_end(uint64_t address) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen("/proc/self/maps", "re"), std::fclose);
  if (file == nullptr) return 0;
  char line[512];
  bool at_start = true;  // of a line: paths may be longer
  while (std::fgets(line, sizeof(line), file.get()) != nullptr) {
    const char* end_of_text = line + std::strlen(line);
    const bool starts = at_start;
    at_start = end_of_text != line && end_of_text[-1] == '\n';
    if (!starts) continue;
    uint64_t begin = 0, end = 0;
    const auto [dash, error] = std::from_chars(line, end_of_text, begin, 16);
    if (error != std::errc() || dash == end_of_text || *dash != '-') continue;
    if (std::from_chars(dash + 1, end_of_text, end, 16).ec != std::errc()) continue;
    if (address >= begin && address < end) return end;
  }
  return 0;
}

}  // namespace tarsier::linux
