#include "base/noted_memory.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <vector>

namespace tarsier {

// All lines from `begin` on that are not known yet. False: they would be too many.
bool NotedMemory::note(Address begin, size_t count) const {
  const auto line_at = [&](size_t i) { return begin + i * kLine; };
  size_t first = 0, last = count;
  while (first < last && lines_.contains(line_at(first))) ++first;
  while (first < last && lines_.contains(line_at(last - 1))) --last;
  if (first == last) return true;
  if (last - first > most_lines_ - std::min(most_lines_, lines_.size())) return false;
  std::vector<uint8_t> bytes((last - first) * kLine);
  const bool all = source_.copy(bytes.data(), line_at(first), bytes.size());
  for (size_t i = first; i < last; ++i) {
    const auto [it, is_new] = lines_.try_emplace(line_at(i));
    if (!is_new) continue;
    Line& line = it->second;
    line.readable = all || source_.copy(line.content.data(), line_at(i), kLine);
    if (all) std::memcpy(line.content.data(), bytes.data() + (i - first) * kLine, kLine);
  }
  return true;
}

bool NotedMemory::copy(void* out, Address from, size_t size) const noexcept {
  if (size == 0) return true;
  if (from > UINTPTR_MAX - kLine || size > UINTPTR_MAX - kLine - from) return false;
  const Address begin = from - from % kLine;
  const size_t count = (from + size - begin + kLine - 1) / kLine;
  try {
    if (count > most_lines_ || !note(begin, count)) {
      overflowed_ = true;
      return false;
    }
  } catch (const std::bad_alloc&) {
    overflowed_ = true;
    return false;
  }
  auto* target = static_cast<uint8_t*>(out);
  for (Address at = from; at < from + size;) {
    const auto it = lines_.find(at - at % kLine);
    if (it == lines_.end() || !it->second.readable) return false;
    const size_t offset = at % kLine;
    const size_t bytes = std::min(kLine - offset, from + size - at);
    std::memcpy(target, it->second.content.data() + offset, bytes);
    target += bytes;
    at += bytes;
  }
  return true;
}

}  // namespace tarsier
