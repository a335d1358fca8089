// vmStructs in words, for recordings: one row per line, fields apart by tabs.
//
//   nmethod._compile_id    +96         int         a member
//   CodeCache._heaps       @7f..e0     ...         a static one
//   ConstMethod            =48                     the size of a type
#include <charconv>

#include "hotspot/vm_structs.h"

namespace tarsier::hotspot {
namespace {

std::string number(uint64_t value) {
  char digits[16];
  return {digits, std::to_chars(digits, digits + sizeof(digits), value, 16).ptr};
}

// The text up to `end`, which is taken off together with it.
std::string_view take(std::string_view& text, char end) {
  const size_t at = text.find(end);
  const std::string_view taken = text.substr(0, at);
  text = at == std::string_view::npos ? std::string_view() : text.substr(at + 1);
  return taken;
}

}  // namespace

VmStructs VmStructs::noting(std::set<std::string, std::less<>>& types) const {
  VmStructs copy = *this;
  copy.noted_ = &types;
  return copy;
}

std::string VmStructs::text(const std::set<std::string, std::less<>>& types) const {
  std::set<std::string> rows;  // in an order that does not depend on chance
  for (const auto& [name, field] : fields_) {
    if (!types.contains(std::string_view(name).substr(0, name.find('.')))) continue;
    rows.insert(name + (field.is_static ? "\t@" + number(field.address) : "\t+" + number(field.offset)) + '\t' +
                field.type);
  }
  for (const auto& [name, size] : sizes_) {
    if (types.contains(name)) rows.insert(name + "\t=" + number(size));
  }
  std::string out;
  for (const std::string& row : rows) out += row + '\n';
  return out;
}

Result<VmStructs> VmStructs::from_text(std::string_view text) {
  VmStructs result;
  while (!text.empty()) {
    std::string_view row = take(text, '\n');
    const std::string name(take(row, '\t'));
    const std::string_view value = take(row, '\t');
    uint64_t parsed = 0;
    const auto [end, error] =
        std::from_chars(value.data() + std::min<size_t>(1, value.size()), value.data() + value.size(), parsed, 16);
    if (name.empty() || error != std::errc() || end != value.data() + value.size()) {
      return Error{Errc::kCorrupt, "what it says about the JVM's layout makes no sense: '" + name + "'"};
    }
    const char kind = value.front();
    if (kind == '=') result.sizes_[name] = parsed;
    if (kind == '+') result.fields_[name] = {false, parsed, 0, std::string(row)};
    if (kind == '@') result.fields_[name] = {true, 0, static_cast<Address>(parsed), std::string(row)};
  }
  return result;
}

}  // namespace tarsier::hotspot
