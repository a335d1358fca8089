#include "hotspot/edge_check.h"

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
  const auto size = structs.size_of(entry);
  const auto cache_size = structs.size_of("ConstantPoolCache");
  if (!index || !size || !cache_size) return std::nullopt;
  check.entry_index_ = *index;
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
  const auto index = pool_index(cache, instruction->index);
  const auto name = index ? called_name(caller.pool, *index) : std::nullopt;
  if (name == callee.name_symbol) return Edge::kRight;  // there is one symbol of a name
  const auto length = name ? memory_->read<uint16_t>(*name + symbol_length_) : std::nullopt;
  if (!length || *length != callee.name.size()) return otherwise;
  std::string text(*length, 0);
  return memory_->copy(text.data(), *name + symbol_body_, text.size()) && text == callee.name ? Edge::kRight
                                                                                              : otherwise;
}

// Bytecodes are rewritten when a class is linked: they then count entries of a cache, which know their constants.
std::optional<uint16_t> EdgeCheck::pool_index(Address cache, uint16_t cache_index) const {
  if (cache == 0) return std::nullopt;
  if (!resolved_methods_)
    return memory_->read<uint16_t>(cache + cache_size_ + cache_index * entry_size_ + entry_index_);
  const auto array = memory_->read<Address>(cache + *resolved_methods_);
  if (!array || *array == 0) return std::nullopt;
  int32_t count = 0;
  uint16_t index = 0;
  const MemoryPiece both[] = {{&count, *array, sizeof(count)},
                              {&index, *array + 8 + cache_index * entry_size_ + entry_index_, sizeof(index)}};
  return memory_->copy_all(both) && cache_index < count ? std::optional(index) : std::nullopt;
}

// A method reference is (class, name and type), that is (name, type): two halves of a word each.
std::optional<Address> EdgeCheck::called_name(Address pool, uint16_t index) const {
  const auto slot = [&](uint16_t i) { return pool + pool_size_ + Address{8} * i; };
  const auto reference = memory_->read<uint32_t>(slot(index));
  if (!reference) return std::nullopt;
  const auto name_and_type = memory_->read<uint32_t>(slot(static_cast<uint16_t>(*reference >> 16)));
  if (!name_and_type) return std::nullopt;
  return memory_->read<Address>(slot(static_cast<uint16_t>(*name_and_type & 0xffff)));
}

}  // namespace tarsier::hotspot
