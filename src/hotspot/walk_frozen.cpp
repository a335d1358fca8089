#include "hotspot/walk.h"

namespace tarsier::hotspot {

constexpr int kFirstWithContinuations = 19;

bool StackWalker::Walk::is_continuation_entry(const CodeBlob& blob) {
  if (blob.kind != BlobKind::kNativeWrapper || w_.major_ < kFirstWithContinuations) return false;
  if (w_.continuation_entry_ != 0) return blob.method == w_.continuation_entry_;
  const MethodInfo* method = w_.methods_->at(blob.method);
  if (method == nullptr || method->name != "enterSpecial" || method->class_name != "jdk/internal/vm/Continuation") {
    return false;
  }
  w_.continuation_entry_ = blob.method;  // of the JVM's own loader: it stays
  w_.continuation_entry_bytes_ = static_cast<Address>(std::max(blob.frame_bytes, 0));
  return true;
}

bool StackWalker::Walk::leave_continuation_entry() {
  const Address end = f_.sp + w_.continuation_entry_bytes_;
  if (!yields() || f_.continuation != f_.sp || w_.continuation_entry_bytes_ < 16) return false;
  if (!holds(end - 16) || !holds(end - 8)) return false;
  const Position caller{word(end - 8), end, word(end - 16)};
  if (!plausible(caller, true)) return false;
  if (!out_.frames.empty()) out_.frames.back().called_by_vm = true;
  return go_to(caller);
}

bool StackWalker::Walk::end_of_virtual_thread() {
  out_.is_virtual = true;
  // Without any frame they are on their way to the heap, and the JVM has hidden them.
  return end_with(thaws_ || out_.frames.empty() ? WalkEnd::kThawing : WalkEnd::kComplete);
}

bool StackWalker::Walk::return_to_frozen() {
  out_.is_virtual = true;
  // Without a frame of its own on the stack it is busy with moving some there. They are neither here nor there, from
  // when room has been made for them.
  const bool any = std::any_of(out_.frames.begin(), out_.frames.end(),
                               [](const WalkedFrame& frame) { return frame.kind != FrameKind::kStub; });
  constexpr Address kBeforeRoomIsMade = 48;
  thaws_ = !any && !(f_.continuation >= at_.sp && f_.continuation - at_.sp <= kBeforeRoomIsMade);
  if (thaws_ && frozen_ == frozen_end_ && !f_.frozen_cut && go_to_thawed()) {
    thaws_ = false;
    return true;
  }
  if (thaws_) measure_thaw();
  const CodeBlob* stub = w_.blobs_->at(at_.pc);
  if (out_.frames.empty() && stub != nullptr) add_stub(at_.pc, *stub);
  if (frozen_ == frozen_end_) return end_with(WalkEnd::kNotThawed);
  is_frozen_ = true;
  return next_part();
}

bool StackWalker::Walk::is_yield(const MethodInfo* method) {
  return method != nullptr && method->name == "doYield" && method->class_name == "jdk/internal/vm/Continuation";
}

bool StackWalker::Walk::yields() const {
  return !out_.frames.empty() && out_.frames[0].kind == FrameKind::kNative && is_yield(out_.frames[0].info);
}

void StackWalker::Walk::drop_frozen_twice(Address innermost) {
  if (!any_frozen_ && out_.frames.size() > 1 && yields() && is_yielding(innermost)) out_.frames.resize(1);
}

bool StackWalker::Walk::next_part() {
  if (piece_is_cut_) return end_with(WalkEnd::kTooShort);
  FrozenPart part{};
  if (frozen_ == frozen_end_)
    return f_.frozen_cut || !any_frozen_ ? end_with(WalkEnd::kNotThawed) : end_of_virtual_thread();
  if (static_cast<size_t>(frozen_end_ - frozen_) < sizeof(part)) return end_with(WalkEnd::kNotThawed);
  std::memcpy(&part, frozen_, sizeof(part));
  frozen_ += sizeof(part);
  if (static_cast<size_t>(frozen_end_ - frozen_) < part.bytes) return end_with(WalkEnd::kNotThawed);
  piece_ = {part.begin, part.bytes, frozen_};
  piece_is_cut_ = part.cut != 0;
  frozen_ += part.bytes;
  if (part.bytes < 16 || part.below > part.bytes / 8 - 2) return end_with(WalkEnd::kNotThawed);
  Address sp = part.begin + 16 + Address{8} * part.below;
  if (const auto innermost = find_thawing(sp)) {
    thaws_ = false;
    sp = *innermost;
  }
  thaw_words_ = 0;                                // only the first part's frames are moved
  if (sp + 8 > piece_.end()) return next_part();  // all of its frames have left
  drop_frozen_twice(sp);
  any_frozen_ = true;
  at_ = {word(sp - 8), sp, 0};
  at_.fp = frozen_fp(sp - 16);
  from_leaf_ = false;
  return true;
}

Address StackWalker::Walk::distant(Address from, uint64_t stored) {
  constexpr int64_t kFarthest = 1 << 20;
  const auto words = static_cast<int64_t>(stored);
  return words < -kFarthest || words > kFarthest ? 0 : from + static_cast<Address>(words * 8);
}

Address StackWalker::Walk::frozen_fp(Address slot) {
  const CodeBlob* blob = w_.blobs_->at(at_.pc);
  return blob != nullptr && blob->kind == BlobKind::kInterpreter ? distant(slot, word(slot)) : word(slot);
}

bool StackWalker::Walk::next_frozen() {
  if (const ReturnAddress* known = find_known(at_.pc))
    return add_known(*known) && leave_frozen_frame(known->frame_bytes, true);
  const CodeBlob* blob = w_.blobs_->at(at_.pc);
  if (blob == nullptr) return end_with(WalkEnd::kNoCode);
  if (blob->kind == BlobKind::kInterpreter) return leave_frozen_interpreted();
  if (blob->frame_bytes <= 0) return end_with(WalkEnd::kNoSender);
  if (blob->is_method() && !add_compiled_caller(*blob)) return false;
  return leave_frozen_frame(blob->frame_bytes, blob->is_method());
}

bool StackWalker::Walk::leave_frozen_frame(int32_t frame_bytes, bool of_method) {
  from_leaf_ = !of_method;
  const Address frame_end = at_.sp + static_cast<Address>(frame_bytes);
  // The outermost frame of a chunk ends with it, but for arguments that were passed to it.
  if (frame_end + 8 >= piece_.end()) return next_part();
  at_ = {word(frame_end - 8), frame_end, 0};
  at_.fp = frozen_fp(frame_end - 16);
  return true;
}

bool StackWalker::Walk::leave_frozen_interpreted() {
  const auto slots = w_.machine_->interpreter_slots(w_.major_);
  const Address fp = at_.fp;
  if (!holds(slot(fp, slots.bcp)) || !holds(fp)) {
    return end_with(piece_is_cut_ && beyond(fp) ? WalkEnd::kTooShort : WalkEnd::kNoMethod);
  }
  const MethodInfo* method = w_.methods_->at(word(slot(fp, slots.method)));
  if (method == nullptr) return end_with(WalkEnd::kNoMethod);
  add(FrameKind::kInterpreted, *method,
      method->is_native() ? -1 : method->bci_of(word(slot(fp, slots.bcp))).value_or(0));
  const Address locals = distant(fp, word(slot(fp, slots.locals)));
  if (locals + 8 >= piece_.end()) return next_part();
  const Address sender = distant(fp, word(slot(fp, slots.sender_sp)));
  if (sender <= fp || !holds(fp + 8)) return end_with(WalkEnd::kNoSender);
  at_ = {word(fp + 8), sender, 0};
  at_.fp = frozen_fp(fp);
  from_leaf_ = false;
  return true;
}

}  // namespace tarsier::hotspot
