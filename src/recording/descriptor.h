// The shape of a method's descriptor, e.g. (I[Ljava/lang/String;)V. Readers parse it, so nothing else may be written.
#pragma once

#include <string_view>

namespace tarsier::recording {

// For frames that are no Java methods.
constexpr std::string_view kNoDescriptor = "()V";

inline bool skip_type(std::string_view& text, bool allow_void) {
  while (!text.empty() && text.front() == '[') text.remove_prefix(1);
  if (text.empty()) return false;
  const char c = text.front();
  if (c != 'L') {
    text.remove_prefix(1);
    return std::string_view("BCDFIJSZ").find(c) != std::string_view::npos || (allow_void && c == 'V');
  }
  const size_t end = text.find(';');
  if (end == std::string_view::npos || end == 1) return false;
  text.remove_prefix(end + 1);
  return true;
}

inline bool is_method_descriptor(std::string_view text) {
  if (text.empty() || text.front() != '(') return false;
  text.remove_prefix(1);
  while (!text.empty() && text.front() != ')') {
    if (!skip_type(text, false)) return false;
  }
  if (text.empty()) return false;
  text.remove_prefix(1);
  return skip_type(text, true) && text.empty();
}

}  // namespace tarsier::recording
