// The innermost frame of a thread that releases a monitor: see lock_scope.h.
#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <vector>

#include "hotspot/debug_info.h"
#include "hotspot/lock_scope.h"
#include "hotspot/walk.h"

namespace tarsier::hotspot {

Address StackWalker::Walk::back_in_line(const CodeBlob& blob, Address pc) const {
  std::array<uint8_t, 32> code{};
  const size_t size = pc < blob.code_end ? std::min<Address>(code.size(), blob.code_end - pc) : 0;
  if (!w_.memory_->copy(code.data(), pc, size)) return pc;
  const Address target = pc + static_cast<Address>(w_.machine_->next_jump(std::span(code).first(size)).value_or(0));
  return blob.contains(target) ? target : pc;
}

uint32_t StackWalker::Walk::entering_scope(const CodeBlob& blob, int64_t slot, Address near) const {
  uint32_t found = 0;
  Address nearest = 0;
  for (const PcDesc& desc : blob.pcs) {
    if (desc.pc_offset <= 0 || desc.scope_offset <= 0) continue;
    const Address pc = blob.code_begin + static_cast<Address>(desc.pc_offset);
    const auto target = w_.machine_->call_target(*w_.memory_, pc);
    const CodeBlob* called = target ? w_.blobs_->at(*target) : nullptr;
    if (called == nullptr || called->name.find("monitor_locking") == std::string::npos) continue;
    std::array<uint8_t, 64> code{};
    const size_t size = std::min<Address>(code.size(), pc - blob.code_begin);
    if (!w_.memory_->copy(code.data(), pc - size, size)) continue;
    const auto passed = w_.machine_->passed_slot(std::span(code).first(size));
    const Address entered = back_in_line(blob, pc);
    if ((passed && *passed != slot) || entered > near || entered < nearest) continue;
    nearest = entered;
    found = static_cast<uint32_t>(desc.scope_offset);
  }
  return found;
}

bool StackWalker::Walk::is_synchronized(const CodeBlob& blob, uint32_t offset) const {
  constexpr uint16_t kSynchronized = 0x20;
  Scope scope{};
  if (!read_scope(blob.scopes, offset, w_.blobs_->excluded_byte(), scope)) return false;
  const bool known = scope.method_index > 0 && scope.method_index <= blob.metadata.size();
  const MethodInfo* method = known ? w_.methods_->at(blob.metadata[scope.method_index - 1]) : nullptr;
  return method != nullptr && (method->access & kSynchronized) != 0;
}

std::optional<uint32_t> StackWalker::Walk::releasing_scope_by_code(const CodeBlob& blob, Address return_address) const {
  const PcDesc* desc = blob.at(return_address);
  const uint8_t excluded = w_.blobs_->excluded_byte();
  const auto is_java = [](const WalkedFrame& frame) {
    return frame.kind != FrameKind::kStub && frame.kind != FrameKind::kLibrary;
  };
  // Another method releases, or a stub that is called as methods are.
  const bool has_called = !out_.frames.empty();
  if (has_called && (desc != nullptr || std::any_of(out_.frames.begin(), out_.frames.end(), is_java))) {
    return std::nullopt;
  }
  const uint32_t described = desc != nullptr ? static_cast<uint32_t>(std::max(desc->scope_offset, 0)) : 0;
  std::array<uint8_t, 64> code{};
  const size_t size = std::min<Address>(code.size(), return_address - blob.code_begin);
  if (!w_.memory_->copy(code.data(), return_address - size, size)) return described;
  const auto slot = w_.machine_->passed_slot(std::span(code).first(size));
  if (!slot) return described;
  if (desc != nullptr) {
    const uint32_t found = find_lock_scope_by(blob, excluded, *slot, described, is_synchronized(blob, described));
    if (found != 0) return found;
  }
  return find_only_lock_scope(blob, excluded, *slot);
}

std::optional<uint32_t> StackWalker::Walk::releasing_scope(const CodeBlob& blob, Address return_address,
                                                           Address sp) const {
  if (w_.released_ == 0) return std::nullopt;
  if (w_.released_ == kReleasedByCode) return releasing_scope_by_code(blob, return_address);
  if (w_.released_ < sp || w_.released_ - sp >= static_cast<Address>(blob.frame_bytes)) return std::nullopt;
  // Some calls have it all the same.
  if (const PcDesc* desc = blob.at(return_address)) return static_cast<uint32_t>(std::max(desc->scope_offset, 0));
  const auto slot = static_cast<int64_t>(w_.released_ - sp);
  // The call may have been put out of line, far from the region.
  std::vector<uint8_t> code(blob.code_end - blob.code_begin);
  Address near = return_address;
  if (w_.memory_->copy(code.data(), blob.code_begin, code.size())) {
    near = blob.code_begin + w_.machine_->reached_from(code, return_address - blob.code_begin);
  }
  if (const uint32_t entering = entering_scope(blob, slot, near)) return entering;
  return find_lock_scope(blob, w_.blobs_->excluded_byte(), slot, near);
}

}  // namespace tarsier::hotspot
