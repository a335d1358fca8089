#include "recording/stored_string.h"

#include "recording/decode.h"
#include "recording/utf8.h"

namespace tarsier::recording {
namespace {

std::string_view raw(const StoredString& text) {
  return {reinterpret_cast<const char*>(text.data), text.length};
}

void append_latin1(std::string& out, const StoredString& text) {
  for (const char c : raw(text)) append_code_point(out, static_cast<uint8_t>(c));
}

void append_utf16(std::string& out, const StoredString& text) {
  const uint8_t* p = text.data;
  uint32_t high = 0;
  for (uint64_t i = 0; i < text.length; ++i) {
    uint64_t unit = 0;
    p = get_varint(p, text.end, unit);
    if (!p) break;  // was complete a moment ago: somebody is changing the file
    unit &= 0xffff;
    const bool is_low = unit >= 0xdc00 && unit <= 0xdfff;
    if (high && is_low) {
      append_code_point(out, 0x10000 + ((high - 0xd800) << 10) + (static_cast<uint32_t>(unit) - 0xdc00));
      high = 0;
      continue;
    }
    if (high) append_code_point(out, high);  // a lone surrogate: becomes U+FFFD
    high = unit >= 0xd800 && unit <= 0xdbff ? static_cast<uint32_t>(unit) : 0;
    if (!high) append_code_point(out, static_cast<uint32_t>(unit));
  }
  if (high) append_code_point(out, high);
}

}  // namespace

const uint8_t* read_stored_string(const uint8_t* p, const uint8_t* end, StoredString& out) {
  if (p >= end) return nullptr;
  out.encoding = static_cast<StringEncoding>(*p++);
  out.length = 0;
  out.data = p;
  switch (out.encoding) {
    case StringEncoding::kNull:
    case StringEncoding::kEmpty:
      return p;
    case StringEncoding::kConstantPool:
      return get_varint(p, end, out.length);
    case StringEncoding::kUtf8:
    case StringEncoding::kLatin1:
      p = get_varint(p, end, out.length);
      if (!p || out.length > static_cast<uint64_t>(end - p)) return nullptr;
      out.data = p;
      return p + out.length;
    case StringEncoding::kCharArray:
      p = get_varint(p, end, out.length);
      if (!p || out.length > static_cast<uint64_t>(end - p)) return nullptr;
      out.data = p;
      return out.end = skip_varints(p, end, out.length);
  }
  return nullptr;
}

bool is_plain(const StoredString& text, std::string_view& out) {
  out = {};
  switch (text.encoding) {
    case StringEncoding::kNull:
    case StringEncoding::kConstantPool:
      return true;
    case StringEncoding::kEmpty:
      out = "";
      return true;
    case StringEncoding::kUtf8:
      if (!is_valid_utf8(raw(text))) return false;
      out = raw(text);
      return true;
    case StringEncoding::kLatin1:
      if (!is_ascii(raw(text))) return false;
      out = raw(text);
      return true;
    case StringEncoding::kCharArray:
      return false;
  }
  return true;
}

void append_text(std::string& out, const StoredString& text) {
  switch (text.encoding) {
    case StringEncoding::kNull:
    case StringEncoding::kEmpty:
    case StringEncoding::kConstantPool:
      return;
    case StringEncoding::kUtf8:
      return append_as_utf8(out, raw(text));
    case StringEncoding::kLatin1:
      return append_latin1(out, text);
    case StringEncoding::kCharArray:
      return append_utf16(out, text);
  }
}

}  // namespace tarsier::recording
