#include "export/text_table.h"

#include <algorithm>

#include "analysis/wording.h"
#include "export/escape.h"

namespace tarsier::exporting {
namespace {

// A number and its unit are one word: 12 ms, 3 %.
size_t end_of_word(std::string_view text) {
  const size_t end = std::min(text.find(' '), text.size());
  const bool number = end > 0 && text[end - 1] >= '0' && text[end - 1] <= '9';
  return number && end < text.size() ? std::min(text.find(' ', end + 1), text.size()) : end;
}

}  // namespace

std::string pad_left(const std::string& text, size_t width) {
  return text.size() >= width ? text : std::string(width - text.size(), ' ') + text;
}

void append_name(std::string& out, size_t line_start, std::string_view name) {
  const size_t used = out.size() - line_start;
  out += "  " + cut_front(visible(name), kColumns > used + 12 ? kColumns - used - 2 : 10) + "\n";
}

void append_left_out(std::string& out, size_t shown, size_t all) {
  if (all > shown) out += "  (" + analysis::words_of_count(all - shown) + " more; --top shows more of them)\n";
}

std::string without_package(std::string_view method) {
  const size_t name = method.rfind('.');
  if (name == std::string_view::npos || name == 0 || method.front() == '[') return std::string(method);
  const size_t package = method.rfind('.', name - 1);
  return std::string(package == std::string_view::npos ? method : method.substr(package + 1));
}

void append_wrapped(std::string& out, std::string_view text) {
  size_t column = 0;
  while (!text.empty()) {
    const std::string_view whole = text.substr(0, end_of_word(text));
    // Class names of 60,000 characters exist.
    const std::string word = display_width(whole) > kColumns - 2 ? cut_front(whole, kColumns - 2) : std::string(whole);
    const size_t width = display_width(word);
    if (column > 0 && column + 1 + width > kColumns) {
      out += "\n  ";
      column = 2;
    } else if (column > 0) {
      out += ' ';
      ++column;
    }
    out += word;
    column += width;
    text.remove_prefix(std::min(whole.size() + 1, text.size()));
  }
  out += '\n';
}

}  // namespace tarsier::exporting
