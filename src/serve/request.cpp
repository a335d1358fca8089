#include "serve/request.h"

#include <algorithm>

namespace tarsier::serve {
namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool same_word(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// Takes what stands before the first separator off the text.
std::string_view take(std::string_view& text, char separator) {
  const size_t at = std::min(text.find(separator), text.size());
  const std::string_view piece = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return trimmed(piece);
}

// "q=0", "q=0.00": rather not.
bool refuses(std::string_view parameter) {
  if (!same_word(take(parameter, '='), "q")) return false;
  return trimmed(parameter).find_first_not_of("0.") == std::string_view::npos;
}

}  // namespace

Request::Header Request::header(std::string_view name) const {
  Header found;
  for (const auto& [key, value] : headers) {
    if (!same_word(key, name)) continue;
    if (found.times++ == 0) found.value = value;
  }
  return found;
}

bool accepts_gzip(std::string_view accept_encoding) {
  while (!accept_encoding.empty()) {
    std::string_view coding = take(accept_encoding, ',');
    if (!same_word(take(coding, ';'), "gzip")) continue;
    while (!coding.empty()) {
      if (refuses(take(coding, ';'))) return false;
    }
    return true;
  }
  return false;
}

}  // namespace tarsier::serve
