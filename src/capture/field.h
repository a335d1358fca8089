// A member of a structure of the JVM's, of which only the offset is known.
#pragma once

#include <cstdint>
#include <cstring>

namespace tarsier::capture {

template <class T>
T field(const uint8_t* object, uint64_t offset) noexcept {
  T value;
  std::memcpy(&value, object + offset, sizeof(value));
  return value;
}

}  // namespace tarsier::capture
