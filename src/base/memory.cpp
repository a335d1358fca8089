#include "base/memory.h"

#include <algorithm>
#include <cstring>

namespace tarsier {

std::optional<std::string> Memory::read_string(Address from, size_t limit) const {
  constexpr size_t kPage = 4096;
  std::string result;
  char buffer[64];
  while (result.size() <= limit) {
    // Never across a page: the string may end just before memory that is not there.
    const size_t size = std::min(sizeof(buffer), kPage - from % kPage);
    if (!copy(buffer, from, size)) return std::nullopt;
    const size_t length = ::strnlen(buffer, size);
    result.append(buffer, length);
    if (length < size) return result.size() <= limit ? std::optional(std::move(result)) : std::nullopt;
    from += size;
  }
  return std::nullopt;
}

}  // namespace tarsier
