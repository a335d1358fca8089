#include "hotspot/edge_check.h"

#include <array>
#include <string>
#include <string_view>

namespace tarsier::hotspot {
namespace {

enum Bytecode : uint8_t {
  kInvokeVirtual = 0xb6,
  kInvokeInterface = 0xb9,
  kInvokeDynamic = 0xba,
  kFirstOfHotSpot = 0xcb
};

bool by_method_handle(const MethodInfo& caller, const MethodInfo& callee) {
  for (const MethodInfo* method : {&caller, &callee}) {
    if (method->class_name.starts_with("java/lang/invoke/") ||
        method->class_name.find("LambdaForm") != std::string::npos) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::optional<EdgeCheck> EdgeCheck::find(const Memory& memory, const VmStructs& structs) {
  EdgeCheck check(memory);
  const auto cache = structs.offset("ConstantPool", "_cache");
  const auto pool_size = structs.size_of("ConstantPool");
  const auto symbol_length = structs.offset("Symbol", "_length");
  const auto symbol_body = structs.offset("Symbol", "_body");
  if (!cache || !pool_size || !symbol_length || !symbol_body) return std::nullopt;
  check.cache_ = *cache;
  check.pool_size_ = *pool_size;
  check.symbol_length_ = *symbol_length;
  check.symbol_body_ = *symbol_body;
  check.resolved_methods_ = structs.offset("ConstantPoolCache", "_resolved_method_entries");
  const char* entry = check.resolved_methods_ ? "ResolvedMethodEntry" : "ConstantPoolCacheEntry";
  const auto index = structs.offset(entry, check.resolved_methods_ ? "_cpool_index" : "_indices");
  const auto methods = structs.offset(entry, check.resolved_methods_ ? "_method" : "_f1");
  const auto size = structs.size_of(entry);
  const auto cache_size = structs.size_of("ConstantPoolCache");
  if (!index || !size || !cache_size) return std::nullopt;
  check.entry_index_ = *index;
  check.entry_methods_ = methods;
  check.entry_size_ = *size;
  check.cache_size_ = *cache_size;
  return check;
}

Edge EdgeCheck::check(const MethodInfo& caller, int32_t bci, const MethodInfo& callee) const {
  if (bci < 0 || caller.is_native() || callee.name == "<clinit>" || by_method_handle(caller, callee)) {
    return Edge::kUncheckable;
  }
  struct __attribute__((packed)) Instruction {
    uint8_t code;
    uint16_t index;
  };
  Address cache = 0;
  std::optional<Instruction> instruction(std::in_place);
  const MemoryPiece both[] = {{&*instruction, caller.code + static_cast<Address>(bci), sizeof(Instruction)},
                              {&cache, caller.pool + cache_, sizeof(cache)}};
  if (!memory_->copy_all(both)) instruction = memory_->read<Instruction>(caller.code + static_cast<Address>(bci));
  if (static_cast<uint32_t>(bci) >= caller.code_size || !instruction) return Edge::kWrong;
  if (instruction->code == kInvokeDynamic) return Edge::kUncheckable;
  const bool invokes = instruction->code >= kInvokeVirtual && instruction->code <= kInvokeInterface;
  // Bytecodes of HotSpot's own stand for quickened calls, and for much else.
  const bool may_invoke = instruction->code >= kFirstOfHotSpot;
  if (!invokes && !may_invoke) return Edge::kWrong;
  const Edge otherwise = invokes ? Edge::kWrong : Edge::kUncheckable;
  const auto entry = cache_entry(cache, instruction->index);
  if (entry && entry->is_about(callee.method)) return Edge::kRight;
  const auto name = entry ? called_name(caller.pool, entry->pool_index) : std::nullopt;
  if (name == callee.name_symbol) return Edge::kRight;  // there is one symbol of a name
  const auto length = name ? memory_->read<uint16_t>(*name + symbol_length_) : std::nullopt;
  if (!length || *length != callee.name.size()) return otherwise;
  std::string text(*length, 0);
  return memory_->copy(text.data(), *name + symbol_body_, text.size()) && text == callee.name ? Edge::kRight
                                                                                              : otherwise;
}

// Bytecodes are rewritten when a class is linked: they then count entries of a cache, which know their constants.
std::optional<EdgeCheck::CacheEntry> EdgeCheck::cache_entry(Address cache, uint16_t cache_index) const {
  if (cache == 0) return std::nullopt;
  CacheEntry entry;
  int32_t count = INT32_MAX;
  Address at = cache + cache_size_ + cache_index * entry_size_;
  std::array<MemoryPiece, 3> wanted;
  size_t pieces = 0;
  if (resolved_methods_) {
    const auto array = memory_->read<Address>(cache + *resolved_methods_);
    if (!array || *array == 0) return std::nullopt;
    at = *array + 8 + cache_index * entry_size_;
    wanted[pieces++] = {&count, *array, sizeof(count)};
  }
  wanted[pieces++] = {&entry.pool_index, at + entry_index_, sizeof(entry.pool_index)};
  const auto needed = std::span(wanted).first(pieces);
  const size_t fields = resolved_methods_ ? 1 : entry.methods.size();
  if (entry_methods_) wanted[pieces++] = {entry.methods.data(), at + *entry_methods_, fields * sizeof(Address)};
  if (!memory_->copy_all(std::span(wanted).first(pieces))) {
    entry.methods = {};
    if (!memory_->copy_all(needed)) return std::nullopt;
  }
  return cache_index < count ? std::optional(entry) : std::nullopt;
}

// Some entries of a pool of constants around the one that was asked for first: what belongs together lies together
// most of the time.
class EdgeCheck::PoolPart {
 public:
  PoolPart(const Memory& memory, Address entries, uint16_t first)
      : memory_(memory),
        entries_(entries),
        begin_(first > kBefore ? first - kBefore : 0),
        is_known_(memory.copy(part_.data(), entries + sizeof(uint64_t) * begin_, sizeof(part_))) {}

  template <class T>
  [[nodiscard]] std::optional<T> at(uint16_t index) const {
    if (is_known_ && index >= begin_ && index - begin_ < part_.size()) return static_cast<T>(part_[index - begin_]);
    return memory_.read<T>(entries_ + sizeof(uint64_t) * index);
  }

 private:
  static constexpr size_t kBefore = 8;
  const Memory& memory_;
  const Address entries_;
  const size_t begin_;
  std::array<uint64_t, 64> part_;
  const bool is_known_;  // it may reach over the end of what there is
};

// A method reference is (class, name and type), that is (name, type): two halves of a word each.
std::optional<Address> EdgeCheck::called_name(Address pool, uint16_t index) const {
  const PoolPart part(*memory_, pool + pool_size_, index);
  const auto reference = part.at<uint32_t>(index);
  if (!reference) return std::nullopt;
  const auto name_and_type = part.at<uint32_t>(static_cast<uint16_t>(*reference >> 16));
  return name_and_type ? part.at<Address>(static_cast<uint16_t>(*name_and_type)) : std::nullopt;
}

}  // namespace tarsier::hotspot
