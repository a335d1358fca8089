// A string as a recording stores it, in one of six encodings.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "recording/format.h"

namespace tarsier::recording {

struct StoredString {
  StringEncoding encoding = StringEncoding::kNull;
  uint64_t length = 0;  // bytes, or code units of a char array, or the key of a constant
  const uint8_t* data = nullptr;
  const uint8_t* end = nullptr;
};

// By its first byte, which then is its only one: most strings of samples.
inline bool is_null_or_empty(uint8_t first) {
  return first <= static_cast<uint8_t>(StringEncoding::kEmpty);
}

// Returns the byte after it, nullptr if it is damaged or does not end before `end`.
const uint8_t* read_stored_string(const uint8_t* p, const uint8_t* end, StoredString& out);

// True, with a view of the file, if no conversion is needed.
bool is_plain(const StoredString& text, std::string_view& out);
// Nothing for null and for constants.
void append_text(std::string& out, const StoredString& text);

}  // namespace tarsier::recording
