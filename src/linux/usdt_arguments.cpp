// The operands of a probe, as the assembler of each architecture writes them. What sys/sdt.h emits for one argument is
// "SIZE@OPERAND": SIZE in bytes, negative if signed, OPERAND whatever the compiler chose.
#include <elf.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "linux/usdt.h"

namespace tarsier::linux {
namespace {

using Place = UsdtArgument::Place;

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// All of the text, or nothing.
template <class T>
std::optional<T> number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// At most `pieces`, parted by commas; nullopt if there are more.
struct Pieces {
  std::array<std::string_view, 3> piece;
  size_t count = 0;
};
std::optional<Pieces> split(std::string_view text) {
  Pieces out;
  for (;;) {
    if (out.count == out.piece.size()) return std::nullopt;
    const size_t comma = text.find(',');
    out.piece[out.count++] = trimmed(text.substr(0, comma));
    if (comma == std::string_view::npos) return out;
    text.remove_prefix(comma + 1);
  }
}

namespace aarch64 {

std::optional<int8_t> register_number(std::string_view name) {
  if (name == "sp") return int8_t{31};
  if (name.size() < 2 || (name[0] != 'x' && name[0] != 'w')) return std::nullopt;
  const auto value = number<int8_t>(name.substr(1));
  return value && *value >= 0 && *value <= 30 ? value : std::nullopt;
}

std::optional<int64_t> constant(std::string_view text) {
  if (text.starts_with('#')) text.remove_prefix(1);
  return number<int64_t>(text);
}

// [x1], [sp, 12], [x0, x1], [x0, x1, lsl 3]
bool memory(std::string_view inner, UsdtArgument& out) {
  const auto pieces = split(inner);
  if (!pieces) return false;
  const auto base = register_number(pieces->piece[0]);
  if (!base) return false;
  out.base = *base;
  if (pieces->count == 1) return true;
  if (const auto offset = constant(pieces->piece[1]); offset && pieces->count == 2) {
    out.constant = *offset;
    return true;
  }
  // A 32-bit index is widened first, one way or the other: what sdt.h's users never produced is not guessed at.
  const auto index = register_number(pieces->piece[1]);
  if (!index || !pieces->piece[1].starts_with('x')) return false;
  out.index = *index;
  if (pieces->count == 2) return true;
  const std::string_view shift = pieces->piece[2];
  const auto bits = shift.starts_with("lsl ") ? constant(trimmed(shift.substr(4))) : std::nullopt;
  if (!bits || *bits < 0 || *bits > 4) return false;
  out.scale = static_cast<uint8_t>(1 << *bits);
  return true;
}

bool operand(std::string_view text, UsdtArgument& out) {
  if (text == "xzr" || text == "wzr") text = "0";
  if (const auto value = constant(text)) {
    out.place = Place::kConstant;
    out.constant = *value;
    return true;
  }
  if (const auto reg = register_number(text)) {
    out.place = Place::kRegister;
    out.base = *reg;
    return true;
  }
  out.place = Place::kMemory;
  return text.size() > 2 && text.front() == '[' && text.back() == ']' && memory(text.substr(1, text.size() - 2), out);
}

}  // namespace aarch64

namespace x86_64 {

// The eight old registers by their names for 8, 4, 2 and 1 bytes, in DWARF's order.
constexpr std::string_view kNames[8][4] = {
    {"rax", "eax", "ax", "al"},  {"rdx", "edx", "dx", "dl"},  {"rcx", "ecx", "cx", "cl"},  {"rbx", "ebx", "bx", "bl"},
    {"rsi", "esi", "si", "sil"}, {"rdi", "edi", "di", "dil"}, {"rbp", "ebp", "bp", "bpl"}, {"rsp", "esp", "sp", "spl"}};

// ah, bh, ch and dh are not among them: they are the second byte of a register, which nothing here can say.
std::optional<int8_t> register_number(std::string_view name) {
  if (!name.starts_with('%')) return std::nullopt;
  name.remove_prefix(1);
  for (int8_t i = 0; i < 8; ++i) {
    if (std::find(std::begin(kNames[i]), std::end(kNames[i]), name) != std::end(kNames[i])) return i;
  }
  if (!name.starts_with('r')) return std::nullopt;
  name.remove_prefix(1);
  if (!name.empty() && std::string_view("dwb").find(name.back()) != std::string_view::npos) name.remove_suffix(1);
  const auto value = number<int8_t>(name);
  return value && *value >= 8 && *value <= 15 ? value : std::nullopt;
}

// OFFSET(%base), OFFSET(%base,%index,SCALE), OFFSET(,%index,SCALE); a symbol as OFFSET or %rip as base is refused:
// their addresses are known to the linker only.
bool memory(std::string_view offset, std::string_view inner, UsdtArgument& out) {
  if (!offset.empty()) {
    const auto value = number<int64_t>(offset);
    if (!value) return false;
    out.constant = *value;
  }
  const auto pieces = split(inner);
  if (!pieces) return false;
  if (!pieces->piece[0].empty()) {
    const auto base = register_number(pieces->piece[0]);
    if (!base) return false;
    out.base = *base;
  }
  if (pieces->count > 1) {
    const auto index = register_number(pieces->piece[1]);
    if (!index) return false;
    out.index = *index;
  }
  if (pieces->count > 2) {
    const auto scale = number<uint8_t>(pieces->piece[2]);
    if (!scale || (*scale != 1 && *scale != 2 && *scale != 4 && *scale != 8)) return false;
    out.scale = *scale;
  }
  return out.base != UsdtArgument::kNone || out.index != UsdtArgument::kNone;
}

bool operand(std::string_view text, UsdtArgument& out) {
  if (text.starts_with('$')) {
    const auto value = number<int64_t>(text.substr(1));
    out.place = Place::kConstant;
    out.constant = value.value_or(0);
    return value.has_value();
  }
  if (const auto reg = register_number(text)) {
    out.place = Place::kRegister;
    out.base = *reg;
    return true;
  }
  const size_t open = text.find('(');
  out.place = Place::kMemory;
  return open != std::string_view::npos && text.back() == ')' &&
         memory(text.substr(0, open), text.substr(open + 1, text.size() - open - 2), out);
}

}  // namespace x86_64

// Takes the size away from `text`. Old versions of sdt.h left it out for arguments of the machine's word.
bool take_size(std::string_view& text, UsdtArgument& out) {
  const size_t at = text.find('@');
  if (at == std::string_view::npos) return true;
  const auto size = number<int8_t>(text.substr(0, at));  // "4f" is a floating-point number: not for us
  text.remove_prefix(at + 1);
  if (!size) return false;
  const int bytes = *size < 0 ? -*size : *size;
  if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) return false;
  out.size = static_cast<uint8_t>(bytes);
  out.is_signed = *size < 0;
  return true;
}

UsdtArgument parse_argument(std::string_view text, uint16_t machine) {
  UsdtArgument parsed;
  parsed.text = text;
  UsdtArgument unknown = parsed;
  const bool understood = take_size(text, parsed) && ((machine == EM_AARCH64 && aarch64::operand(text, parsed)) ||
                                                      (machine == EM_X86_64 && x86_64::operand(text, parsed)));
  return understood ? parsed : unknown;
}

}  // namespace

std::vector<UsdtArgument> parse_usdt_arguments(std::string_view text, uint16_t machine) {
  std::vector<UsdtArgument> arguments;
  size_t begin = 0;
  int depth = 0;  // operands are parted by spaces, but "[x19, 152]" is one
  for (size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ' ';
    if (c == '[' || c == '(') ++depth;
    if (c == ']' || c == ')') --depth;
    if (i < text.size() && (c != ' ' || depth > 0)) continue;
    if (i > begin) arguments.push_back(parse_argument(text.substr(begin, i - begin), machine));
    begin = i + 1;
  }
  return arguments;
}

}  // namespace tarsier::linux
