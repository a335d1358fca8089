#include "linux/mappings.h"

#include <charconv>
#include <cstdio>
#include <cstring>
#include <memory>

namespace tarsier::linux {

namespace {

struct Mapped {
  uint64_t end = 0;
  bool writable = false;
};
Mapped mapped_at(uint64_t address) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen("/proc/self/maps", "re"), std::fclose);
  if (file == nullptr) return {};
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
    const auto [rights, end_error] = std::from_chars(dash + 1, end_of_text, end, 16);  // " rw-p "
    if (end_error != std::errc() || end_of_text - rights < 3) continue;
    if (address >= begin && address < end) return {end, rights[2] == 'w'};
  }
  return {};
}

}  // namespace

uint64_t mapping_end(uint64_t address) {
  return mapped_at(address).end;
}

bool mapping_is_writable(uint64_t address) {
  return mapped_at(address).writable;
}

}  // namespace tarsier::linux
