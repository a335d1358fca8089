// Names of methods, threads and files come from the program that was recorded, and a program may be hostile. Whatever
// of them goes to a terminal or into a line-based file passes through here.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tarsier::exporting {

// Control characters, escape sequences, line separators, marks that change the direction of text or take no space, and
// code points that are none become visible: \u{1b}. A byte that is not UTF-8 becomes \x{ff}. The rest stays.
// Also escaped: the ASCII characters in `special`.
std::string visible(std::string_view text, std::string_view special = {});

// What is not UTF-8 becomes the replacement character, byte by byte; all else stays, harmful or not: for readers that
// make it visible themselves.
std::string as_utf8(std::string_view text);

// For columns of a table, of text that is visible() already: not wider than `columns` (at least 1). Cut at the front,
// since the end of a method's name tells most, with an ellipsis in place of what is gone.
std::string cut_front(std::string_view text, size_t columns);
// The columns that a terminal needs for it.
size_t display_width(std::string_view text);

}  // namespace tarsier::exporting
