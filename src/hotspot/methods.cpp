#include "hotspot/methods.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <string_view>

#include "hotspot/debug_info.h"

namespace tarsier::hotspot {
namespace {

constexpr uint8_t kHasLineNumbers = 1;  // in ConstMethod::_flags, the same in all releases
constexpr int32_t kMaxMethods = 1 << 16;
constexpr size_t kHead = 512;  // of a ConstMethod

bool plausible(Address pointer) {
  return pointer >= 4096 && pointer % 8 == 0;
}

// Memory that was a symbol's is no text any more.
bool is_name(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const auto byte = static_cast<uint8_t>(text[i]);
    const size_t length = byte < 0x80 ? 1 : byte >> 5 == 6 ? 2 : byte >> 4 == 14 ? 3 : 0;
    if (byte == 0 || length == 0 || length > text.size() - i) return false;
    for (size_t k = 1; k < length; ++k) {
      if (static_cast<uint8_t>(text[i + k]) >> 6 != 2) return false;
    }
    i += length;
  }
  return !text.empty();
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
  // Not exported, but behind the length in all releases from 8 to 25. Of a class from the JVM's archive it does not
  // begin with 0.
  l.pool_version = l.pool_length + sizeof(int32_t);
  l.klass_name = need("Klass", "_name");
  l.klass_methods = need("InstanceKlass", "_methods");
  l.array_data = structs.offset("Array<Method*>", "_data").value_or(8);
  l.symbol_length = need("Symbol", "_length");
  l.symbol_body = need("Symbol", "_body");
  if (!missing.empty()) {
    return Error{Errc::kUnsupported, "this JVM's vmStructs lack " + missing + ": methods can't be named"};
  }
  methods.serial_ = ClassSerial::find(structs);
  methods.excluded_byte_ = major >= 20 ? 1 : 0;
  return methods;
}

const MethodInfo* Methods::at(Address method) {
  if (!plausible(method)) return nullptr;
  constexpr uint64_t kSpread = 0x9e3779b97f4a7c15;
  Recent& recent = recent_[(method * kSpread) >> (64 - kLog2Recent)];
  const auto is_confirmed = [&](const Found& info, uint64_t since) {
    return info.confirmed && since <= copied_ && copied_until_ <= info.until;
  };
  if (recent.method == method && is_confirmed(*recent.info, recent.since)) return recent.info;
  const auto it = methods_.find(method);
  if (it != methods_.end()) {
    const Known& known = it->second;
    // A class that can be told from all others, and its versions from each other, does not come back.
    const bool may_be_back = known.had_another && known.info->class_serial == 0;
    if (may_be_back && !settled_epoch()) return nullptr;
    if (is_confirmed(*known.info, known.since)) {
      if (!known.had_another) recent = {method, known.info.get(), known.since};
      return known.info.get();
    }
    // What is there now has been there then if nothing was unloaded since, or if it was seen before.
    if (known.holds(*memory_)) return known.since <= copied_ ? known.info.get() : nullptr;
  }
  MethodEvidence evidence;
  auto found = read(method, evidence);
  if (found == nullptr || epoch_has_passed()) return nullptr;
  Known& known = methods_[method];
  if (known.info != nullptr) bytes_ -= known.evidence.memory_used();
  const MethodInfo* before = known.info.get();
  if (before == nullptr || *before != *found) {
    known.had_another = before != nullptr && known.info->confirmed;
    if (before != nullptr) replaced_.push_back(std::move(known.info));
    recent = {};
    known.info = std::move(found);
    bytes_ += known.info->memory_used();
    known.since = now_;
  }
  known.evidence = std::move(evidence);
  bytes_ += known.evidence.memory_used();
  return known.since <= copied_ ? known.info.get() : nullptr;
}

bool Methods::is_loaded(const MethodInfo& method) const {
  const auto it = methods_.find(method.method);
  if (it == methods_.end() || it->second.info.get() != &method) return false;
  const Known& known = it->second;
  return (known.info->confirmed && known.info->until == now_) || known.holds(*memory_);
}

bool Methods::epoch_has_passed() const {
  if (!epoch_) return false;
  std::atomic_thread_fence(std::memory_order_acquire);  // what was read was read before
  return epoch_() != now_;
}

void Methods::forget_except(const std::unordered_set<const MethodInfo*>& needed) {
  recent_.assign(recent_.size(), {});
  std::erase_if(replaced_, [&](const auto& info) { return !needed.contains(info.get()); });
  std::erase_if(methods_, [&](const auto& entry) { return !needed.contains(entry.second.info.get()); });
  bytes_ = 0;
  std::unordered_set<const ClassName*> names;
  const auto add_name = [&](const Found& info) {
    if (names.insert(info.of_class.get()).second) bytes_ += info.of_class->memory_used();
  };
  for (const auto& info : replaced_) {
    bytes_ += info->memory_used();
    add_name(*info);
  }
  for (const auto& [method, known] : methods_) {
    bytes_ += known.memory_used();
    add_name(*known.info);
  }
}

// A call of the kernel costs more than what it copies, so what can be asked for at once is.
class Methods::Reading {
 public:
  Reading(const Memory& memory, MethodEvidence& evidence) : memory_(memory), evidence_(evidence) {}
  template <class T>
  void want(Address from, T& field) {
    want(&field, from, sizeof(field));
  }
  void want(void* out, Address from, size_t size) { wanted_.push_back({out, from, size}); }
  bool read() {
    if (!memory_.copy_all(wanted_)) return false;
    note();
    return true;
  }
  // With something that may be missing, and is 0 then: the memory that goes with saved fragments is what was read.
  template <class T>
  bool read_with(Address from, T& field) {
    want(from, field);
    if (read()) return true;
    wanted_.pop_back();
    field = {};
    return read();
  }
  // With something that is no evidence, if all of it can be read; nothing is done if not.
  bool read_along(void* out, Address from, size_t size) {
    wanted_.push_back({out, from, size});
    const bool all = memory_.copy_all(wanted_);
    wanted_.pop_back();
    if (all) note();
    return all;
  }

 private:
  void note() {
    for (const MemoryPiece& piece : wanted_) evidence_.note(piece.from, piece.out, piece.size);
    wanted_.clear();
  }

  const Memory& memory_;
  MethodEvidence& evidence_;
  std::vector<MemoryPiece> wanted_;
};

std::unique_ptr<Methods::Found> Methods::read(Address method, MethodEvidence& evidence) {
  const Layout& l = layout_;
  auto out = std::make_unique<Found>();
  out->method = method;
  Reading reading(*memory_, evidence);
  reading.want(method + l.const_method, out->const_method);
  reading.want(method + l.access_flags, out->access);
  if (!reading.read() || !plausible(out->const_method)) return nullptr;

  uint16_t name = 0, signature = 0, code_size = 0;
  uint8_t flags = 0;
  int32_t words = 0;
  reading.want(out->const_method + l.constants, out->pool);
  reading.want(out->const_method + l.name_index, name);
  reading.want(out->const_method + l.signature_index, signature);
  reading.want(out->const_method + l.code_size, code_size);
  reading.want(out->const_method + l.flags, flags);
  reading.want(out->const_method + l.const_method_words, words);
  // Of most methods the bytecodes and lines come along, too.
  std::array<uint8_t, kHead> head;
  const bool has_head = reading.read_along(head.data(), out->const_method, head.size());
  if ((!has_head && !reading.read()) || !plausible(out->pool)) return nullptr;

  const auto is_of = [&](const ClassFacts& facts) {
    return std::find(facts.methods.begin(), facts.methods.end(), method) != facts.methods.end();
  };
  const ClassFacts* facts = class_of(out->pool);
  // A class that was never finished gives its place away without being unloaded.
  if (facts != nullptr && !is_of(*facts) && classes_.erase(out->pool) > 0) facts = class_of(out->pool);
  // Memory that was a Method once, or only looks like one, is told by this: its class knows it.
  if (facts == nullptr || name >= facts->length || signature >= facts->length) return nullptr;
  const auto found = std::find(facts->methods.begin(), facts->methods.end(), method);
  const auto slot = static_cast<Address>(found - facts->methods.begin());
  const bool is_known = found != facts->methods.end();
  if (is_known) evidence.note(facts->array + l.array_data + slot * sizeof(Address), &*found, sizeof(Address));

  Address signature_symbol = 0;
  reading.want(out->pool + l.pool_size + Address{8} * name, out->name_symbol);
  reading.want(out->pool + l.pool_size + Address{8} * signature, signature_symbol);
  if (!reading.read()) return nullptr;
  if (!is_known && !was_redefined(*facts, out->name_symbol, signature_symbol)) return nullptr;
  const Symbol symbols[] = {{out->name_symbol, out->name}, {signature_symbol, out->signature}};
  if (!read_symbols(symbols, evidence)) return nullptr;
  out->of_class = facts->name;
  out->class_name = facts->name->name;
  out->class_serial = facts->serial;
  out->class_version = facts->version;
  out->code = out->const_method + l.const_method_size;
  out->code_size = code_size;
  const std::span<const uint8_t> known(head.data(), has_head ? head.size() : 0);
  if ((flags & kHasLineNumbers) != 0) read_lines(*out, known, words);
  evidence.finish();
  return out;
}

// Of a class that was redefined the JVM keeps those that threads are still in. The class no longer knows them, but
// their successors, which have the same name and signature.
bool Methods::was_redefined(const ClassFacts& facts, Address name, Address signature) const {
  const Layout& l = layout_;
  struct Successor {
    Address const_method = 0, pool = 0, name = 0, signature = 0;
    uint16_t name_index = 0, signature_index = 0;
  };
  std::vector<Successor> all(facts.methods.size());
  std::vector<MemoryPiece> wanted;
  // Of all of them at once: method handles have methods that no class knows either, in stack after stack, and
  // MethodHandle itself has dozens. What can't be read stays 0, and is no method.
  const auto read_all = [&] {
    if (!memory_->copy_all(wanted)) {
      for (const MemoryPiece& piece : wanted) {
        if (!memory_->copy(piece.out, piece.from, piece.size)) std::memset(piece.out, 0, piece.size);
      }
    }
    wanted.clear();
  };
  for (size_t i = 0; i < all.size(); ++i)
    wanted.push_back({&all[i].const_method, facts.methods[i] + l.const_method, sizeof(Address)});
  read_all();
  for (Successor& successor : all) {
    if (!plausible(successor.const_method)) continue;
    wanted.push_back({&successor.pool, successor.const_method + l.constants, sizeof(Address)});
    wanted.push_back({&successor.name_index, successor.const_method + l.name_index, sizeof(uint16_t)});
    wanted.push_back({&successor.signature_index, successor.const_method + l.signature_index, sizeof(uint16_t)});
  }
  read_all();
  for (Successor& successor : all) {
    if (!plausible(successor.pool)) continue;
    const Address symbols = successor.pool + l.pool_size;
    wanted.push_back({&successor.name, symbols + Address{8} * successor.name_index, sizeof(Address)});
    wanted.push_back({&successor.signature, symbols + Address{8} * successor.signature_index, sizeof(Address)});
  }
  read_all();
  return std::any_of(all.begin(), all.end(), [&](const Successor& successor) {
    return successor.name != 0 && successor.name == name && successor.signature == signature;
  });
}

// Classes stay what they are for an epoch, unless they are redefined.
const Methods::ClassFacts* Methods::class_of(Address pool) {
  if (classes_epoch_ != now_ || redefined_) {
    classes_.clear();
    classes_bytes_ = 0;
    classes_epoch_ = now_;
  }
  const auto it = classes_.find(pool);
  if (it != classes_.end()) return &it->second;
  const Layout& l = layout_;
  ClassFacts facts;
  auto name = std::make_shared<ClassName>();
  Reading reading(*memory_, name->evidence);
  Address holder = 0, symbol = 0;
  reading.want(pool + l.pool_holder, holder);
  reading.want(pool + l.pool_length, facts.length);
  if (!reading.read_with(pool + l.pool_version, facts.version) || !plausible(holder)) return nullptr;
  reading.want(holder + l.klass_name, symbol);
  reading.want(holder + l.klass_methods, facts.array);
  if (const auto serial = serial_.offset()) reading.want(&facts.serial, holder + *serial, ClassSerial::kBytes);
  if (!reading.read() || !plausible(facts.array)) return nullptr;
  const auto count = memory_->read<int32_t>(facts.array);
  if (!count || *count <= 0 || *count > kMaxMethods) return nullptr;
  facts.methods.resize(static_cast<size_t>(*count));
  const Symbol symbols[] = {{symbol, name->name}};
  if (!memory_->copy(facts.methods.data(), facts.array + l.array_data, facts.methods.size() * sizeof(Address)) ||
      !read_symbols(symbols, name->evidence)) {
    return nullptr;
  }
  name->evidence.finish();
  bytes_ += name->memory_used();
  facts.name = std::move(name);
  serial_.learn(*memory_, holder);
  see_version(holder, facts);
  classes_bytes_ += sizeof(facts) + facts.methods.size() * sizeof(Address);
  constexpr size_t kMostBytes = 2 << 20;
  if (classes_bytes_ > kMostBytes) {
    classes_.clear();
    classes_bytes_ = 0;
  }
  return &classes_.emplace(pool, std::move(facts)).first->second;
}

// Its old versions may still be in use, so lower ones tell nothing.
void Methods::see_version(Address klass, const ClassFacts& facts) {
  if (!tell_redefinition_) return;
  constexpr size_t kMost = 1 << 14;
  if (versions_.size() >= kMost) versions_.clear();
  const auto [it, is_new] = versions_.try_emplace(klass, Version{facts.serial, facts.version});
  if (is_new) return;
  Version& known = it->second;
  const bool is_same_class = known.serial == facts.serial;
  if (is_same_class && facts.version <= known.version) return;
  known = {facts.serial, facts.version};
  if (is_same_class) tell_redefinition_();
}

bool Methods::read_symbols(std::span<const Symbol> symbols, MethodEvidence& evidence) const {
  // Most names are short, so that length and name come at once, if the end of the page allows.
  constexpr size_t kMostlyEnough = 56, kMost = 2;
  std::array<std::array<char, kMostlyEnough>, kMost> starts;
  std::array<uint16_t, kMost> lengths{};
  std::array<MemoryPiece, 2 * kMost> pieces;
  size_t count = 0;
  for (size_t i = 0; i < symbols.size(); ++i) {
    if (symbols[i].at < 4096) return false;
    pieces[count++] = {&lengths[i], symbols[i].at + layout_.symbol_length, sizeof(lengths[i])};
    pieces[count++] = {starts[i].data(), symbols[i].at + layout_.symbol_body, starts[i].size()};
  }
  const bool all = memory_->copy_all(std::span(pieces).first(count));
  for (size_t i = 0; i < symbols.size(); ++i) {
    const auto& [at, out] = symbols[i];
    uint16_t& length = lengths[i];
    if (!all && !memory_->copy(&length, at + layout_.symbol_length, sizeof(length))) return false;
    out.resize(length);
    if (all && length <= starts[i].size()) {
      out.assign(starts[i].data(), length);
    } else if (length > 0 && !memory_->copy(out.data(), at + layout_.symbol_body, length)) {
      return false;
    }
    evidence.note(at + layout_.symbol_length, &length, sizeof(length));
    evidence.note(at + layout_.symbol_body, out.data(), out.size());
    if (!is_name(out)) return false;
  }
  return true;
}

// They lie behind the bytecodes, compressed, and end with a zero.
void Methods::read_lines(MethodInfo& method, std::span<const uint8_t> head, int32_t words) const {
  const Address begin = method.code + method.code_size;
  const Address end = method.const_method + 8 * static_cast<Address>(std::max(words, 0));
  constexpr Address kMaxBytes = 1 << 20;
  if (end <= begin || end - begin > kMaxBytes) return;
  std::vector<uint8_t> rest;
  std::span<const uint8_t> bytes;
  if (end - method.const_method <= head.size()) {
    bytes = head.subspan(begin - method.const_method, end - begin);
  } else {
    rest.resize(end - begin);
    if (!memory_->copy(rest.data(), begin, rest.size())) return;
    bytes = rest;
  }
  CompressedStream stream(bytes, 0, excluded_byte_);
  uint32_t bci = 0, line = 0;  // of damaged ones the sums may wrap
  for (uint8_t next = stream.byte(); next != 0 && stream.good(); next = stream.byte()) {
    constexpr uint8_t kEscape = 0xff;
    bci += next == kEscape ? static_cast<uint32_t>(stream.signed_number()) : next >> 3U;
    line += next == kEscape ? static_cast<uint32_t>(stream.signed_number()) : next & 7U;
    method.lines.emplace_back(static_cast<uint16_t>(bci), static_cast<uint16_t>(line));
  }
  std::stable_sort(method.lines.begin(), method.lines.end(),
                   [](const auto& a, const auto& other) { return a.first < other.first; });
  method.lines.shrink_to_fit();
}

}  // namespace tarsier::hotspot
