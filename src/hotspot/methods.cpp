#include "hotspot/methods.h"

#include <algorithm>

#include "hotspot/debug_info.h"

namespace tarsier::hotspot {
namespace {

constexpr uint8_t kHasLineNumbers = 1;  // in ConstMethod::_flags, the same in all releases
constexpr int32_t kMaxMethods = 1 << 16;

bool plausible(Address pointer) {
  return pointer >= 4096 && pointer % 8 == 0;
}

}  // namespace

int32_t MethodInfo::line(int32_t bci) const {
  const auto after = std::upper_bound(lines.begin(), lines.end(), bci,
                                      [](int32_t wanted, const auto& entry) { return wanted < entry.first; });
  return bci < 0 || after == lines.begin() ? 0 : (after - 1)->second;
}

Result<Methods> Methods::find(const Memory& memory, const VmStructs& structs, int major) {
  Methods methods(memory);
  std::string missing;
  const auto need = [&](std::string_view type, std::string_view field) -> uint64_t {
    const auto offset = structs.offset(type, field);
    if (!offset && missing.empty()) missing = std::string(type) + "." + std::string(field);
    return offset.value_or(0);
  };
  const auto size = [&](std::string_view type) -> uint64_t {
    const auto bytes = structs.size_of(type);
    if (!bytes && missing.empty()) missing = "the size of " + std::string(type);
    return bytes.value_or(0);
  };
  Layout& l = methods.layout_;
  l.const_method = need("Method", "_constMethod");
  l.access_flags = need("Method", "_access_flags");
  l.constants = need("ConstMethod", "_constants");
  const auto flags = structs.offset("ConstMethod", "_flags._flags");  // since 21
  l.flags = flags ? *flags : need("ConstMethod", "_flags");
  l.code_size = need("ConstMethod", "_code_size");
  l.name_index = need("ConstMethod", "_name_index");
  l.signature_index = need("ConstMethod", "_signature_index");
  l.const_method_words = need("ConstMethod", "_constMethod_size");
  l.const_method_size = size("ConstMethod");
  l.pool_holder = need("ConstantPool", "_pool_holder");
  l.pool_length = need("ConstantPool", "_length");
  l.pool_size = size("ConstantPool");
  l.klass_name = need("Klass", "_name");
  l.klass_methods = need("InstanceKlass", "_methods");
  l.array_data = structs.offset("Array<Method*>", "_data").value_or(8);
  l.symbol_length = need("Symbol", "_length");
  l.symbol_body = need("Symbol", "_body");
  if (!missing.empty()) {
    return Error{Errc::kUnsupported, "this JVM's vmStructs lack " + missing + ": methods can't be named"};
  }
  methods.excluded_byte_ = major >= 20 ? 1 : 0;
  return methods;
}

const MethodInfo* Methods::at(Address method) {
  if (!plausible(method)) return nullptr;
  const auto it = methods_.find(method);
  const bool is_known = it != methods_.end() && it->second.since <= copied_;
  if (is_known && it->second.until >= copied_) return it->second.info.get();
  auto found = read(method);
  if (found == nullptr) return nullptr;
  Known& known = methods_[method];
  if (known.info == nullptr || !(*known.info == *found)) {
    if (known.info != nullptr) replaced_.push_back(std::move(known.info));
    known.info = std::move(found);
    bytes_ += known.info->memory_used();
    known.since = now_;
  }
  known.until = now_;
  // What is there now has been there then if nothing was unloaded since, or if it was seen before.
  return known.since <= copied_ ? known.info.get() : nullptr;
}

void Methods::forget_except(const std::unordered_set<const MethodInfo*>& needed) {
  std::erase_if(replaced_, [&](const auto& info) { return !needed.contains(info.get()); });
  std::erase_if(methods_, [&](const auto& entry) { return !needed.contains(entry.second.info.get()); });
  bytes_ = 0;
  for (const auto& info : replaced_) bytes_ += info->memory_used();
  for (const auto& [method, known] : methods_) bytes_ += known.info->memory_used();
}

std::unique_ptr<MethodInfo> Methods::read(Address method) const {
  const Layout& l = layout_;
  auto out = std::make_unique<MethodInfo>();
  out->method = method;
  const auto field = [&]<class T>(Address from, T) { return memory_->read<T>(from).value_or(T{}); };
  out->const_method = field(method + l.const_method, Address{});
  if (!plausible(out->const_method)) return nullptr;
  const Address pool = field(out->const_method + l.constants, Address{});
  if (!plausible(pool)) return nullptr;
  const Address holder = field(pool + l.pool_holder, Address{});
  if (!plausible(holder) || !belongs_to(holder, method)) return nullptr;

  const auto name = field(out->const_method + l.name_index, uint16_t{});
  const auto signature = field(out->const_method + l.signature_index, uint16_t{});
  const auto length = static_cast<uint32_t>(field(pool + l.pool_length, int32_t{}));
  if (name >= length || signature >= length) return nullptr;
  const auto symbol_at = [&](uint16_t index) { return field(pool + l.pool_size + Address{8} * index, Address{}); };
  if (!read_symbol(field(holder + l.klass_name, Address{}), out->class_name) ||
      !read_symbol(symbol_at(name), out->name) || !read_symbol(symbol_at(signature), out->signature)) {
    return nullptr;
  }
  out->access = field(method + l.access_flags, uint16_t{});
  out->code = out->const_method + l.const_method_size;
  out->code_size = field(out->const_method + l.code_size, uint16_t{});
  if ((field(out->const_method + l.flags, uint8_t{}) & kHasLineNumbers) != 0) read_lines(*out);
  return out;
}

// Memory that was a Method once, or only looks like one, is told by this: its class knows it.
bool Methods::belongs_to(Address klass, Address method) const {
  const auto array = memory_->read<Address>(klass + layout_.klass_methods);
  const auto count = array ? memory_->read<int32_t>(*array) : std::nullopt;
  if (!count || *count <= 0 || *count > kMaxMethods) return false;
  std::vector<Address> all(static_cast<size_t>(*count));
  return memory_->copy(all.data(), *array + layout_.array_data, all.size() * sizeof(Address)) &&
         std::find(all.begin(), all.end(), method) != all.end();
}

bool Methods::read_symbol(Address symbol, std::string& out) const {
  const auto length = memory_->read<uint16_t>(symbol + layout_.symbol_length);
  if (symbol < 4096 || !length) return false;
  out.resize(*length);
  return out.empty() || memory_->copy(out.data(), symbol + layout_.symbol_body, out.size());
}

// They lie behind the bytecodes, compressed, and end with a zero.
void Methods::read_lines(MethodInfo& method) const {
  const auto words = memory_->read<int32_t>(method.const_method + layout_.const_method_words);
  const Address begin = method.code + method.code_size;
  const Address end = method.const_method + 8 * static_cast<Address>(std::max(words.value_or(0), 0));
  constexpr Address kMaxBytes = 1 << 20;
  if (end <= begin || end - begin > kMaxBytes) return;
  std::vector<uint8_t> bytes(end - begin);
  if (!memory_->copy(bytes.data(), begin, bytes.size())) return;
  CompressedStream stream(bytes, 0, excluded_byte_);
  int32_t bci = 0, line = 0;
  for (uint8_t next = stream.byte(); next != 0 && stream.good(); next = stream.byte()) {
    constexpr uint8_t kEscape = 0xff;
    bci += next == kEscape ? stream.signed_number() : next >> 3;
    line += next == kEscape ? stream.signed_number() : next & 7;
    method.lines.emplace_back(static_cast<uint16_t>(bci), static_cast<uint16_t>(line));
  }
  std::stable_sort(method.lines.begin(), method.lines.end(),
                   [](const auto& a, const auto& other) { return a.first < other.first; });
}

}  // namespace tarsier::hotspot
