#include "classfile/instructions.h"

#include <algorithm>
#include <iterator>

#include "classfile/bytes.h"

namespace tarsier::classfile {
namespace {

constexpr uint8_t kStore = 54, kStoreN = 59, kLastStoreN = 78, kIinc = 132, kRet = 169, kTableSwitch = 170,
                  kLookupSwitch = 171, kWidePrefix = 196;

// By opcode: up to which one they have that size, the opcode included. 0: it tells itself.
struct SizeRule {
  uint8_t last;
  uint8_t size;
};
constexpr SizeRule kSizes[] = {
    {15, 1},   // constants
    {16, 2},   // bipush
    {17, 3},   // sipush
    {18, 2},   // ldc
    {20, 3},   // ldc_w, ldc2_w
    {25, 2},   // loads
    {53, 1},   //
    {58, 2},   // stores
    {131, 1},  // and arithmetic
    {132, 3},  // iinc
    {152, 1},  // conversions, comparisons
    {168, 3},  // branches, goto, jsr
    {169, 2},  // ret
    {171, 0},  // switches
    {177, 1},  // returns
    {184, 3},  // fields and calls
    {186, 5},  // invokeinterface, invokedynamic
    {187, 3},  // new
    {188, 2},  // newarray
    {189, 3},  // anewarray
    {191, 1},  // arraylength, athrow
    {193, 3},  // checkcast, instanceof
    {195, 1},  // monitors
    {196, 0},  // wide
    {197, 4},  // multianewarray
    {199, 3},  // ifnull, ifnonnull
    {201, 5},  // goto_w, jsr_w
};

Jump jump_of(uint8_t opcode) {
  if ((opcode >= 153 && opcode <= 168) || opcode == 198 || opcode == 199) return Jump::kShort;
  if (opcode == 200 || opcode == 201) return Jump::kLong;
  if (opcode == kTableSwitch) return Jump::kTableSwitch;
  return opcode == kLookupSwitch ? Jump::kLookupSwitch : Jump::kNone;
}

// Longs and doubles take two.
uint16_t slots_of_kind(int kind) {
  return kind == 1 || kind == 3 ? 2 : 1;
}

uint16_t slots_stored_by(uint8_t opcode) {
  if (opcode == kIinc) return 1;
  return opcode >= kStore && opcode < kStoreN ? slots_of_kind(opcode - kStore) : 0;
}

size_t size_of_switch(std::span<const uint8_t> code, size_t pc) {
  Reader in(code.subspan(pc));
  (void)in.take(1 + switch_padding(pc));
  (void)in.u4();  // the default
  uint64_t entries = 0;
  if (code[pc] == kTableSwitch) {
    const auto low = static_cast<int32_t>(in.u4());
    const auto high = static_cast<int32_t>(in.u4());
    if (high < low) return 0;
    entries = (static_cast<uint64_t>(int64_t{high} - low) + 1) * 4;
  } else {
    entries = uint64_t{in.u4()} * 8;
  }
  if (!in.ok() || entries > code.size() - pc - in.at()) return 0;
  return in.at() + entries;
}

Instruction wide_at(std::span<const uint8_t> code, size_t pc) {
  Reader in(code.subspan(pc + 1));
  Instruction found;
  found.opcode = in.u1();
  found.stores_to = in.u2();
  found.stores = slots_stored_by(found.opcode);
  const bool loads_or_stores =
      (found.opcode >= 21 && found.opcode <= 25) || (found.opcode >= kStore && found.opcode < kStoreN);
  if (found.opcode == kIinc) {
    (void)in.u2();
  } else if (!loads_or_stores && found.opcode != kRet) {
    return {};
  }
  if (in.ok()) found.size = 1 + in.at();
  return found;
}

}  // namespace

Instruction instruction_at(std::span<const uint8_t> code, size_t pc) {
  if (pc >= code.size()) return {};
  if (code[pc] == kWidePrefix) return wide_at(code, pc);
  Instruction found;
  found.opcode = code[pc];
  found.jump = jump_of(found.opcode);
  const auto* rule =
      std::find_if(std::begin(kSizes), std::end(kSizes), [&](const SizeRule& r) { return found.opcode <= r.last; });
  if (rule == std::end(kSizes)) return {};
  found.size = rule->size != 0 ? rule->size : size_of_switch(code, pc);
  if (found.size > code.size() - pc) return {};
  if (found.opcode >= kStoreN && found.opcode <= kLastStoreN) {
    found.stores_to = static_cast<uint16_t>((found.opcode - kStoreN) % 4);
    found.stores = slots_of_kind((found.opcode - kStoreN) / 4);
  } else if ((found.stores = slots_stored_by(found.opcode)) != 0) {
    found.stores_to = code[pc + 1];
  }
  return found;
}

}  // namespace tarsier::classfile
