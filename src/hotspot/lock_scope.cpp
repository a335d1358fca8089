#include "hotspot/lock_scope.h"

#include <algorithm>

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

// The same bytecode of the same methods, inlined into each other in the same way.
bool same_place(const CodeBlob& blob, uint8_t excluded, uint32_t a, uint32_t b) {
  Scope of_a{}, of_b{};
  while (a != b) {
    if (!read_scope(blob.scopes, a, excluded, of_a) || !read_scope(blob.scopes, b, excluded, of_b)) return false;
    if (of_a.method_index != of_b.method_index || of_a.bci != of_b.bci) return false;
    a = of_a.caller_offset;
    b = of_b.caller_offset;
  }
  return true;
}

// One call of a method that is inlined: the same method, called from the same place.
bool same_call(const CodeBlob& blob, uint8_t excluded, const Scope& a, const Scope& b) {
  return a.method_index == b.method_index && same_place(blob, excluded, a.caller_offset, b.caller_offset);
}

// Has it the monitor anywhere?
bool call_has_monitor(const CodeBlob& blob, uint8_t excluded, int64_t slot, const Scope& call) {
  Scope scope{};
  return std::any_of(blob.pcs.begin(), blob.pcs.end(), [&](const PcDesc& desc) {
    for (auto offset = static_cast<uint32_t>(std::max(desc.scope_offset, 0));
         read_scope(blob.scopes, offset, excluded, scope); offset = scope.caller_offset) {
      if (same_call(blob, excluded, scope, call)) return has_monitor(blob, excluded, offset, slot);
    }
    return false;
  });
}

struct Called {
  uint32_t scope = 0;  // 0: nobody
  bool several = false;
};

// Whom that one has called that has the monitor. Regions one after another use the same slot.
Called called_with_monitor(const CodeBlob& blob, uint8_t excluded, int64_t slot, const Scope& caller) {
  Called called;
  Scope scope{}, callee{}, found{};
  for (const PcDesc& desc : blob.pcs) {
    uint32_t callee_offset = 0;
    for (auto offset = static_cast<uint32_t>(std::max(desc.scope_offset, 0));
         read_scope(blob.scopes, offset, excluded, scope); offset = scope.caller_offset) {
      if (callee_offset != 0 && same_call(blob, excluded, scope, caller)) {
        called.several = called.several || (called.scope != 0 && !same_call(blob, excluded, callee, found));
        called.scope = callee_offset;
        found = callee;
      }
      callee_offset = has_monitor(blob, excluded, offset, slot) ? offset : 0;
      callee = scope;
    }
  }
  return called;
}

}  // namespace

uint32_t find_lock_scope_by(const CodeBlob& blob, uint8_t excluded, int64_t slot, uint32_t described,
                            bool is_synchronized) {
  Scope scope{};
  if (!read_scope(blob.scopes, described, excluded, scope)) return 0;
  if (scope.bci < 0 && !is_synchronized) {
    const Called left = called_with_monitor(blob, excluded, slot, scope);
    if (left.several) return 0;
    if (left.scope != 0) return left.scope;
  }
  return call_has_monitor(blob, excluded, slot, scope) ? described : 0;
}

uint32_t find_only_lock_scope(const CodeBlob& blob, uint8_t excluded, int64_t slot) {
  uint32_t only = 0;
  Scope scope{}, found{};
  for (const PcDesc& desc : blob.pcs) {
    for (auto offset = static_cast<uint32_t>(std::max(desc.scope_offset, 0));
         read_scope(blob.scopes, offset, excluded, scope); offset = scope.caller_offset) {
      if (!has_monitor(blob, excluded, offset, slot)) continue;
      if (only != 0 && !same_call(blob, excluded, scope, found)) return 0;
      only = offset;
      found = scope;
    }
  }
  return only;
}

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
