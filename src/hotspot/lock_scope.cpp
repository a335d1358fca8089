#include "hotspot/lock_scope.h"

#include "hotspot/debug_info.h"

namespace tarsier::hotspot {
namespace {

// How the debug information writes where a value is: bit 4 says that it is in a register, the offset above counts
// words of four bytes.
bool is_at(uint32_t location, int64_t slot) {
  constexpr uint32_t kInRegister = 0x10;
  return (location & kInRegister) == 0 && int64_t{4} * (location >> 5) == slot;
}

bool has_monitor(const CodeBlob& blob, uint8_t excluded, uint32_t scope, int64_t slot) {
  constexpr int kNumbersBefore = 5;  // caller, method, bci, locals, expressions
  CompressedStream head(blob.scopes, scope, excluded);
  for (int i = 0; i < kNumbersBefore; ++i) (void)head.number();
  const uint32_t offset = head.number();
  if (!head.good() || offset == 0 || offset >= blob.scopes.size()) return false;
  CompressedStream monitors(blob.scopes, offset, excluded);
  constexpr uint32_t kMost = 64;
  const uint32_t count = monitors.number();
  for (uint32_t i = 0; i < count && i < kMost && monitors.good(); ++i) {
    if (is_at(monitors.number(), slot)) return monitors.good();
    // Who owns it: a place, or an object that is known by a number. All else belongs to locks that were optimised away.
    constexpr uint32_t kLocation = 0, kConstantObject = 2, kObjectNumber = 6;
    const uint32_t kind = monitors.number();
    if (kind != kLocation && kind != kConstantObject && kind != kObjectNumber) return false;
    (void)monitors.number();
    (void)monitors.byte();  // optimised away?
  }
  return false;
}

}  // namespace

uint32_t find_lock_scope(const CodeBlob& blob, uint8_t excluded, int64_t slot, Address near) {
  const auto wanted = static_cast<int64_t>(near - blob.code_begin);
  uint32_t before = 0, behind = 0;
  for (const PcDesc& desc : blob.pcs) {
    if (desc.pc_offset < 0 || desc.scope_offset <= 0 || (desc.pc_offset > wanted && behind != 0)) continue;
    auto offset = static_cast<uint32_t>(desc.scope_offset);
    Scope scope;
    while (read_scope(blob.scopes, offset, excluded, scope)) {
      if (has_monitor(blob, excluded, offset, slot)) {
        (desc.pc_offset <= wanted ? before : behind) = offset;
        break;
      }
      offset = scope.caller_offset;
    }
  }
  return before != 0 ? before : behind;
}

}  // namespace tarsier::hotspot
