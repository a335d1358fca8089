#include "export/escape.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>

namespace tarsier::exporting {
namespace {

constexpr std::string_view kEllipsis = "\xe2\x80\xa6";
constexpr uint32_t kInvalid = UINT32_MAX;

struct Decoded {
  uint32_t code_point = kInvalid;
  size_t length = 1;
};

// Strict: no overlong forms, no surrogates, nothing above U+10FFFF.
Decoded decode(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byte(0);
  if (first < 0x80) return {first, 1};
  const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return {};
  uint32_t code_point = first & (0x7fU >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code_point = code_point << 6 | (byte(i) & 0x3fU);
  }
  constexpr std::array<uint32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code_point >= 0xd800 && code_point < 0xe000;
  if (code_point < kSmallest[length] || surrogate || code_point > 0x10ffff) return {};
  return {code_point, length};
}

struct Range {
  uint32_t first, last;
};

template <size_t N>
bool is_in(const std::array<Range, N>& ranges, uint32_t code_point) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const Range& range) { return code_point >= range.first && code_point <= range.last; });
}

constexpr std::array<Range, 13> kHarmful = {{
    {0x0, 0x1f},          // C0, with ESC, newline, carriage return
    {0x7f, 0x9f},         // DEL and C1, with the one-byte CSI
    {0xad, 0xad},         // soft hyphen
    {0x61c, 0x61c},       // Arabic letter mark
    {0x180e, 0x180e},     // Mongolian vowel separator
    {0x200b, 0x200f},     // zero width, left-to-right and right-to-left marks
    {0x2028, 0x202e},     // line and paragraph separators, embeddings and overrides of direction
    {0x2060, 0x206f},     // word joiner, isolates
    {0xfe00, 0xfe0f},     // variation selectors
    {0xfeff, 0xfeff},     // byte order mark
    {0xfff0, 0xfffb},     // specials; the replacement character itself is fine
    {0xfffe, 0xffff},     // no characters
    {0xe0000, 0x10ffff},  // tags, variation selectors, private use
}};

// Two columns: East Asian wide and full width, and the common emoji.
constexpr std::array<Range, 10> kWide = {{
    {0x1100, 0x115f},
    {0x2e80, 0x303e},
    {0x3041, 0xa4cf},
    {0xac00, 0xd7a3},
    {0xf900, 0xfaff},
    {0xfe30, 0xfe6f},
    {0xff00, 0xff60},
    {0xffe0, 0xffe6},
    {0x1f300, 0x1faff},
    {0x20000, 0x3fffd},
}};
constexpr std::array<Range, 4> kCombining = {{{0x300, 0x36f}, {0x1ab0, 0x1aff}, {0x20d0, 0x20ff}, {0xfe20, 0xfe2f}}};

size_t width_of(uint32_t code_point) {
  if (code_point < 0x300) return 1;
  return is_in(kWide, code_point) ? 2 : is_in(kCombining, code_point) ? 0 : 1;
}

void append_code(std::string& out, char letter, uint32_t value) {
  std::array<char, 16> buffer{};
  const int length = std::snprintf(buffer.data(), buffer.size(), "\\%c{%x}", letter, value);
  out.append(buffer.data(), static_cast<size_t>(length));
}

}  // namespace

std::string visible(std::string_view text, std::string_view special) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Decoded decoded = decode(text);
    if (decoded.code_point == kInvalid) {
      append_code(out, 'x', static_cast<uint8_t>(text.front()));
    } else if (is_in(kHarmful, decoded.code_point) ||
               (decoded.code_point < 0x80 && special.find(text.front()) != std::string_view::npos)) {
      append_code(out, 'u', decoded.code_point);
    } else {
      out.append(text.substr(0, decoded.length));
    }
    text.remove_prefix(decoded.length);
  }
  return out;
}

size_t display_width(std::string_view text) {
  size_t width = 0;
  while (!text.empty()) {
    const Decoded decoded = decode(text);
    width += width_of(decoded.code_point);
    text.remove_prefix(decoded.length);
  }
  return width;
}

std::string as_utf8(std::string_view text) {
  constexpr std::string_view kReplacement = "\xef\xbf\xbd";
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Decoded decoded = decode(text);
    out += decoded.code_point == kInvalid ? kReplacement : text.substr(0, decoded.length);
    text.remove_prefix(decoded.length);
  }
  return out;
}

std::string cut_front(std::string_view text, size_t columns) {
  size_t width = display_width(text);
  if (width <= columns) return std::string(text);
  // Combining marks go with the character that they belong to.
  while (!text.empty()) {
    const Decoded decoded = decode(text);
    const size_t removed = width_of(decoded.code_point);
    if (width + 1 <= columns && removed > 0) break;
    width -= removed;
    text.remove_prefix(decoded.length);
  }
  return std::string(kEllipsis).append(text);
}

}  // namespace tarsier::exporting
