// Names come from class files and from other people's recordings: class files use "modified UTF-8", recordings
// anything. Whatever leaves this folder, into a file or to a caller, is valid UTF-8.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tarsier::recording {

bool is_ascii(std::string_view text);
bool is_valid_utf8(std::string_view text);

void append_code_point(std::string& out, uint32_t code_point);

// Joins pairs of encoded surrogates, takes C0 80 as NUL, and puts U+FFFD where there is no character.
void append_as_utf8(std::string& out, std::string_view text);

}  // namespace tarsier::recording
