// Lines and columns of text for a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tarsier::exporting {

constexpr size_t kColumns = 100;

std::string pad_left(const std::string& text, size_t width);

// The last column takes what is left of the line, which began at `line_start`.
void append_name(std::string& out, size_t line_start, std::string_view name);

void append_left_out(std::string& out, size_t shown, size_t all);

// Of a method: Class.method. Package names take the place that the rest needs.
std::string without_package(std::string_view method);

// Words up to the width; what follows the first line is indented. The text must be visible() already.
void append_wrapped(std::string& out, std::string_view text);

}  // namespace tarsier::exporting
