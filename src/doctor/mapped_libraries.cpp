#include "doctor/mapped_libraries.h"

#include <algorithm>
#include <charconv>

namespace tarsier::doctor {
namespace {

std::string_view take_word(std::string_view& text) {
  const size_t start = std::min(text.find_first_not_of(' '), text.size());
  const size_t end = std::min(text.find(' ', start), text.size());
  const std::string_view word = text.substr(start, end - start);
  text.remove_prefix(end);
  return word;
}

template <class T>
T number(std::string_view text, int base) {
  T value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value, base);
  return value;
}

}  // namespace

std::vector<MappedLibrary> mapped_libraries(std::string_view maps) {
  std::vector<MappedLibrary> libraries;
  while (!maps.empty()) {
    // ffff8000-ffff9000 r-xp 00001000 fe:01 4711    /usr/lib/libjvm.so (deleted)
    std::string_view line = maps.substr(0, maps.find('\n'));
    maps.remove_prefix(std::min(line.size() + 1, maps.size()));
    const std::string_view range = take_word(line);
    take_word(line);
    const std::string_view offset = take_word(line);
    take_word(line);
    const std::string_view inode = take_word(line);
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (!line.starts_with('/')) continue;
    constexpr std::string_view kDeleted = " (deleted)";
    const bool deleted = line.ends_with(kDeleted);
    if (deleted) line.remove_suffix(kDeleted.size());
    if (line.find(".so") == std::string_view::npos) continue;

    auto found =
        std::find_if(libraries.begin(), libraries.end(), [&](const MappedLibrary& l) { return l.path == line; });
    if (found == libraries.end()) {
      libraries.push_back({std::string(line), 0, number<uint64_t>(inode, 10), deleted});
      found = std::prev(libraries.end());
    }
    if (found->base == 0 && number<uint64_t>(offset, 16) == 0) found->base = number<Address>(range, 16);
  }
  return libraries;
}

}  // namespace tarsier::doctor
