#include "recording/utf8.h"

#include <cstring>

namespace tarsier::recording {
namespace {

constexpr uint32_t kReplacement = 0xfffd;

bool is_surrogate(uint32_t c) {
  return c >= 0xd800 && c <= 0xdfff;
}
bool is_high_surrogate(uint32_t c) {
  return c >= 0xd800 && c <= 0xdbff;
}
bool is_low_surrogate(uint32_t c) {
  return c >= 0xdc00 && c <= 0xdfff;
}

struct Decoded {
  uint32_t code_point;
  size_t length;  // bytes consumed, at least 1
  bool valid;
};

// One sequence, surrogates included: what they mean is the caller's question.
Decoded decode(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byte(0);
  if (first < 0x80) return {first, 1, true};
  const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc0 || first > 0xf4) return {kReplacement, 1, false};
  uint32_t value = first & (0x7fu >> length);
  for (size_t i = 1; i < length; ++i) {
    if (i >= text.size() || (byte(i) & 0xc0) != 0x80) return {kReplacement, i, false};
    value = value << 6 | (byte(i) & 0x3fu);
  }
  constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool modified_nul = length == 2 && value == 0;
  if ((value < kSmallest[length] && !modified_nul) || value > 0x10ffff) return {kReplacement, length, false};
  return {value, length, true};
}

}  // namespace

bool is_ascii(std::string_view text) {
  const char* p = text.data();
  size_t left = text.size();
  for (; left >= 8; p += 8, left -= 8) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    if (word & 0x8080808080808080u) return false;
  }
  for (; left; ++p, --left) {
    if (static_cast<uint8_t>(*p) & 0x80) return false;
  }
  return true;
}

bool is_valid_utf8(std::string_view text) {
  if (is_ascii(text)) return true;
  while (!text.empty()) {
    const Decoded d = decode(text);
    const bool modified_nul = d.code_point == 0 && d.length == 2;
    if (!d.valid || is_surrogate(d.code_point) || modified_nul) return false;
    text.remove_prefix(d.length);
  }
  return true;
}

void append_code_point(std::string& out, uint32_t c) {
  if (is_surrogate(c) || c > 0x10ffff) c = kReplacement;
  const auto put = [&](uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xc0 | c >> 6);
    put(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    put(0xe0 | c >> 12);
    put(0x80 | (c >> 6 & 0x3f));
    put(0x80 | (c & 0x3f));
  } else {
    put(0xf0 | c >> 18);
    put(0x80 | (c >> 12 & 0x3f));
    put(0x80 | (c >> 6 & 0x3f));
    put(0x80 | (c & 0x3f));
  }
}

void append_as_utf8(std::string& out, std::string_view text) {
  while (!text.empty()) {
    const Decoded d = decode(text);
    text.remove_prefix(d.length);
    if (is_high_surrogate(d.code_point) && !text.empty()) {
      const Decoded low = decode(text);
      if (is_low_surrogate(low.code_point)) {
        append_code_point(out, 0x10000 + ((d.code_point - 0xd800) << 10) + (low.code_point - 0xdc00));
        text.remove_prefix(low.length);
        continue;
      }
    }
    append_code_point(out, d.valid ? d.code_point : kReplacement);
  }
}

}  // namespace tarsier::recording
