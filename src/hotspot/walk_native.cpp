// Native frames, of who wants to see them: between the interrupted instruction and the place where the JVM has noted
// that the thread left Java, between two such places, and of threads that have none. What the unwind tables say is
// believed as far as it leads to that very place, and otherwise not at all.
#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "hotspot/walk.h"

namespace tarsier::hotspot {
namespace {

// Code that signs its return addresses (aarch64) leaves the signature in the upper bits.
constexpr Address kAddressBits = (Address{1} << 48) - 1;

}  // namespace

StackWalker::Walk::NativeStep StackWalker::Walk::leave_native_frame(Position& at, bool interrupted) {
  // A return address may be the first one behind a function that does not return.
  const auto rule = w_.native_ == nullptr ? std::nullopt : w_.native_->rule_at(at.pc - (interrupted ? 0 : 1));
  if (!rule) return NativeStep::kUnknown;
  if (rule->outermost) return NativeStep::kOutermost;
  const Address cfa = (rule->by_fp ? at.fp : at.sp) + static_cast<Address>(rule->cfa_offset);
  Position caller{0, cfa, at.fp};
  const auto load = [&](int64_t offset, Address& value) {
    const Address slot = cfa + static_cast<Address>(offset);
    if (!holds(slot)) return false;
    value = word(slot);
    return true;
  };
  if (cfa < at.sp) return NativeStep::kUnknown;
  if (beyond(cfa - 8)) return NativeStep::kTooShort;
  // The frame has to be there up to its end, though not all of it is read.
  if (w_.shows_native_) out_.highest = std::max(out_.highest, cfa);
  if (rule->ra_saved) {
    if (!load(rule->ra_offset, caller.pc)) return NativeStep::kUnknown;
  } else if (!interrupted) {
    return NativeStep::kUnknown;
  } else {
    caller.pc = unsaved_return().pc;
  }
  if (rule->fp_saved && !load(rule->fp_offset, caller.fp)) return NativeStep::kUnknown;
  caller.pc &= kAddressBits;
  at = caller;
  return NativeStep::kCaller;
}

bool StackWalker::Walk::is_signal_return(Address pc) const {
  constexpr Address kAround = 16;
  std::array<uint8_t, 2 * kAround> code;
  // It may stand where a page begins.
  if (w_.memory_->copy(code.data(), pc - kAround, code.size())) {
    return w_.machine_->returns_from_signal(code, kAround);
  }
  return w_.memory_->copy(code.data(), pc, kAround) &&
         w_.machine_->returns_from_signal(std::span(code).first(kAround), 0);
}

std::optional<Fragment> StackWalker::Walk::interrupted_by_signal() const {
  if (signal_frame_ == 0) return std::nullopt;
  const SignalFrame frame = w_.machine_->signal_frame();
  const auto there = [&](uint16_t offset) { return holds(signal_frame_ + offset); };
  if (!there(frame.pc) || !there(frame.sp) || !there(frame.fp)) return std::nullopt;
  Fragment then = f_;
  then.pc = peek(signal_frame_ + frame.pc);
  then.sp = peek(signal_frame_ + frame.sp);
  then.fp = peek(signal_frame_ + frame.fp);
  for (size_t i = 0; i < frame.general.size(); ++i) {
    then.general[i] = frame.general[i] != 0 ? peek(signal_frame_ + frame.general[i]) : 0;
  }
  return then.sp > signal_frame_ ? std::optional(then) : std::nullopt;
}

std::optional<Position> StackWalker::Walk::leave_undescribed() {
  const Position unsaved = unsaved_return();
  std::array<uint8_t, 1024> code;
  constexpr size_t kJump = 32;
  if (w_.memory_->copy(code.data(), f_.pc, kJump) && w_.machine_->jumps_on(std::span(code).first(kJump)))
    return unsaved;
  // The kernel's own functions (vdso) on aarch64: a return address that is saved and still in its register.
  if (f_.fp != f_.sp || !holds(f_.fp + 8) || ((peek(f_.fp + 8) ^ unsaved.pc) & kAddressBits) != 0) return std::nullopt;
  constexpr Address kPage = 4096;
  const size_t before = std::min<Address>(f_.pc % kPage, code.size());
  if (!w_.memory_->copy(code.data(), f_.pc - before, before)) return std::nullopt;
  const auto frame = w_.machine_->frame_with_record(std::span(code).first(before));
  if (!frame) return std::nullopt;
  return Position{unsaved.pc & kAddressBits, f_.fp + static_cast<Address>(*frame), word(f_.fp)};
}

void StackWalker::Walk::show_native(Address pc, bool interrupted) {
  if (!w_.shows_native_ || out_.frames.size() >= max_depth_) return;
  // A return address may be the first one behind the function.
  const Address inside = pc == kUnknownNative || interrupted ? pc : pc - 1;
  out_.frames.push_back({.kind = FrameKind::kLibrary, .method = inside});
}

bool StackWalker::Walk::is_where_java_was_left(const Position& at, const CodeBlob& blob,
                                               const JavaFrameAnchor& anchor) {
  // Around a call the interpreter has more on its stack than the JVM notes; its frame is known by its frame pointer.
  if (blob.kind == BlobKind::kInterpreter && anchor.fp != 0 && at.fp == anchor.fp) return true;
  constexpr Address kPushedForCall = 16;
  return at.sp <= anchor.sp && anchor.sp - at.sp <= kPushedForCall;
}

void StackWalker::Walk::show_native_part(Position at, bool interrupted, const JavaFrameAnchor& anchor) {
  if (!w_.shows_native_) return;
  const size_t before = out_.frames.size();
  for (int depth = 0; depth < kMaxNative; ++depth, interrupted = false) {
    if (const CodeBlob* blob = w_.blobs_->at(at.pc)) {
      if (anchor.sp != 0 && is_where_java_was_left(at, *blob, anchor)) return;
      // Some of the JVM's stubs are used by its own functions as well.
      const auto caller = interrupted ? native_caller_of_stub() : std::nullopt;
      if (!caller) break;
      add_stub(at.pc, *blob);
      at = *caller;
      continue;
    }
    show_native(at.pc, interrupted);
    NativeStep step = leave_native_frame(at, interrupted);
    if (step == NativeStep::kUnknown && interrupted) {
      if (const auto caller = leave_undescribed()) {
        at = *caller;
        step = NativeStep::kCaller;
      }
    }
    if (step == NativeStep::kOutermost && anchor.sp == 0) return;
    if (step != NativeStep::kCaller) break;
    if (anchor.sp != 0 && at.sp > anchor.sp) break;
  }
  // What was interrupted is certain; all else is not.
  const bool is_certain = out_.frames.size() > before && before == 0 && !in_step_ &&
                          out_.frames[before].kind == FrameKind::kLibrary && out_.frames[before].method == f_.pc;
  out_.frames.resize(before + (is_certain ? 1 : 0));
  show_native(kUnknownNative, false);
}

void StackWalker::Walk::show_native_gap(const JavaFrameAnchor& anchor) {
  if (!w_.shows_native_) return;
  // The stubs begin with a frame record, and keep fp there.
  if (!holds(at_.fp + 8) || at_.fp < at_.sp) return show_native(kUnknownNative, false);
  show_native_part({word(at_.fp + 8), at_.fp + 16, word(at_.fp)}, false, anchor);
}

}  // namespace tarsier::hotspot
