#include <array>

#include "hotspot/walk.h"

namespace tarsier::hotspot {
namespace {

size_t hash_of(Address address, int bits) {
  constexpr uint64_t kSpread = 0x9e3779b97f4a7c15;
  return (address * kSpread) >> (64 - bits);
}

}  // namespace

void StackWalker::Walk::run() {
  if (!find_first()) return;
  constexpr int kMaxSteps = 1 << 16;
  for (int step = 0; step < kMaxSteps; ++step) {
    if (out_.frames.size() >= max_depth_) return stop(WalkEnd::kTooDeep);
    if (is_frozen_) {
      if (!next_frozen()) return;
    } else if (remembered_ == nullptr) {
      if (!next()) return;
    } else {
      if (take_remembered() || !next_step()) return;
    }
  }
  stop(WalkEnd::kTooDeep);
}

bool StackWalker::Walk::next() {
  if (at_.pc == w_.call_stub_return_) return leave_entry_frame();
  if (const ReturnAddress* known = find_known(at_.pc)) {
    note_identity(known->code);
    // What is known of the caller lies in memory that nobody has used since the last stack, as do these frames: it is
    // asked for before they are needed.
    __builtin_prefetch(&place_of(peek(at_.sp + static_cast<Address>(known->frame_bytes) - 8)));
    return add_known(*known) && leave_frame(known->frame_bytes, true);
  }
  const CodeBlob* blob = w_.blobs_->at(at_.pc);
  if (blob == nullptr) return end_with(WalkEnd::kNoCode);
  if (blob->kind == BlobKind::kContinuationStubs) return return_to_frozen();
  if (is_continuation_entry(*blob)) return end_of_virtual_thread();
  if (blob->kind == BlobKind::kUpcallStub) return leave_upcall_stub(*blob);
  if (blob->kind == BlobKind::kInterpreter) {
    const auto slots = w_.machine_->interpreter_slots(w_.major_);
    if (beyond(at_.fp + 8)) return end_with(WalkEnd::kTooShort);
    if (!holds(slot(at_.fp, slots.bcp))) return end_with(WalkEnd::kNoMethod);
    const Address of = word(slot(at_.fp, slots.method));
    if (const WalkedFrame* known = find_interpreted(of, peek(slot(at_.fp, slots.bcp)))) {
      word(slot(at_.fp, slots.bcp));  // belongs to what it was found by
      out_.frames.push_back(*known);
      return leave_interpreted(at_.fp);
    }
    const MethodInfo* method = w_.methods_->at(of);
    if (method != nullptr) return add_interpreted(*method, 0);
    return leave_unloaded() || end_with(WalkEnd::kNoMethod);
  }
  note_identity(w_.blobs_->identity_of(*blob));
  if (blob->frame_bytes <= 0) return end_with(WalkEnd::kNoSender);
  if (blob->is_method() && !add_compiled_caller(*blob)) return false;
  return leave_frame(blob->frame_bytes, blob->is_method());
}

bool StackWalker::Walk::leave_frame(int32_t frame_bytes, bool of_method) {
  const Address frame_end = at_.sp + static_cast<Address>(frame_bytes);
  if (beyond(frame_end - 8)) return end_with(WalkEnd::kTooShort);
  if (!holds(frame_end - 16)) return end_with(WalkEnd::kNoSender);
  // What a runtime stub returns to may be a call without debug information.
  from_leaf_ = !of_method;
  at_ = {word(frame_end - 8), frame_end, word(frame_end - 16)};
  return true;
}

StackWalker::ReturnAddress& StackWalker::Walk::place_of(Address pc) const {
  return w_.return_addresses_[hash_of(pc, kLog2ReturnAddresses)];
}

StackWalker::ReturnAddress& StackWalker::Walk::slot_of(Address pc) const {
  ReturnAddress& one = place_of(pc);
  if (one.pc == pc) return one;
  ReturnAddress& other = w_.return_addresses_[static_cast<size_t>(&one - w_.return_addresses_.data()) ^ 1];
  return other.pc == pc || other.moment < one.moment ? other : one;
}

StackWalker::Bytecode& StackWalker::Walk::slot_of_bytecode(Address bytecode) const {
  return w_.bytecodes_[hash_of(bytecode, kLog2Bytecodes)];
}

const WalkedFrame* StackWalker::Walk::find_interpreted(Address method, Address bytecode) const {
  Bytecode& known = slot_of_bytecode(bytecode);
  // Only what was part of a stack that makes sense: of all else the methods want to be asked again.
  if (!known.frame.confirmed || known.at != bytecode || known.frame.method != method ||
      w_.methods_->settled_epoch() != known.epoch) {
    return nullptr;
  }
  known.walk = w_.walks_;
  return &known.frame;
}

void StackWalker::Walk::remember_interpreted(Address bytecode) {
  const auto epoch = w_.methods_->settled_epoch();
  Bytecode& known = slot_of_bytecode(bytecode);
  // A frame of this walk may still be written to.
  if (!epoch || known.walk == w_.walks_) return;
  WalkedFrame& frame = out_.frames.back();
  frame.line = frame.info->line(frame.bci);
  frame.kept = &known.frame;
  known = {bytecode, *epoch, w_.walks_, frame};
}

const StackWalker::ReturnAddress* StackWalker::Walk::find_known(Address pc) const {
  ReturnAddress& known = slot_of(pc);
  const auto epoch = w_.methods_->settled_epoch();
  if (known.pc != pc || known.count == 0 || !epoch || known.epoch != static_cast<uint32_t>(*epoch)) return nullptr;
  const auto moment = static_cast<uint32_t>(w_.blobs_->moment());
  if (moment != 0 && known.moment == moment) return &known;
  __builtin_prefetch(known.frames.get());
  if (!w_.blobs_->is_valid(*known.blob, known.serial)) return nullptr;
  known.moment = moment;
  return &known;
}

bool StackWalker::Walk::add_known(const ReturnAddress& known) {
  const auto frames = known.all().first(std::min<size_t>(known.count, max_depth_ - out_.frames.size()));
  out_.frames.insert(out_.frames.end(), frames.begin(), frames.end());
  return frames.size() == known.count || end_with(WalkEnd::kTooDeep);
}

void StackWalker::Walk::remember(const CodeBlob& blob, Address pc, size_t before) {
  const auto epoch = w_.methods_->settled_epoch();
  const size_t count = out_.frames.size() - before;
  constexpr size_t kMost = 1000;
  if (!epoch || out_.frames.size() >= max_depth_ || count == 0 || count > kMost) return;
  ReturnAddress& slot = slot_of(pc);
  slot.pc = pc;
  slot.blob = &blob;
  slot.serial = blob.serial;
  slot.epoch = static_cast<uint32_t>(*epoch);
  slot.moment = static_cast<uint32_t>(w_.blobs_->moment());
  slot.code = w_.blobs_->identity_of(blob);
  slot.frame_bytes = blob.frame_bytes;
  for (auto frame = out_.frames.begin() + static_cast<ptrdiff_t>(before); frame != out_.frames.end(); ++frame)
    if (frame->info != nullptr) frame->line = frame->info->line(frame->bci);
  if (slot.frames != nullptr) w_.forgotten_.push_back(std::move(slot.frames));
  slot.frames = std::make_unique<WalkedFrame[]>(count);
  slot.count = static_cast<uint16_t>(count);
  for (size_t i = 0; i < count; ++i) {
    WalkedFrame& frame = out_.frames[before + i];
    frame.kept = &slot.frames[i];
    slot.frames[i] = frame;
  }
}

bool StackWalker::Walk::leave_entry_frame() {
  const Address wrapper_slot = at_.fp + static_cast<Address>(static_cast<int64_t>(w_.machine_->call_wrapper_offset()));
  if (beyond(wrapper_slot)) return end_with(WalkEnd::kTooShort);
  if (!holds(wrapper_slot)) return end_with(WalkEnd::kBadEntryFrame);
  return leave_by_anchor(word(wrapper_slot) + w_.wrapper_anchor_);
}

bool StackWalker::Walk::leave_upcall_stub(const CodeBlob& blob) {
  note_identity(w_.blobs_->identity_of(blob));
  // Who has called the C code is told by the anchor, and the C code by the stub's frame record.
  if (in_step_ && w_.shows_native_) out_.steps.back().by_fp = true;
  if (blob.saved_anchor == 0) return end_with(WalkEnd::kNoSender);
  return leave_by_anchor(at_.sp + static_cast<Address>(blob.saved_anchor));
}

bool StackWalker::Walk::leave_by_anchor(Address anchor) {
  if (in_step_) out_.steps.back().is_entry = true;
  if (anchor < f_.sp) return end_with(WalkEnd::kBadEntryFrame);
  if (beyond(anchor + 16)) return end_with(WalkEnd::kTooShort);
  const Address sp = word(anchor + w_.anchor_sp_), pc = word(anchor + w_.anchor_pc_), fp = word(anchor + w_.anchor_fp_);
  if (sp == 0) return end_with(WalkEnd::kComplete);
  if (sp <= at_.sp) return end_with(WalkEnd::kBadEntryFrame);
  if (!out_.frames.empty()) out_.frames.back().called_by_vm = true;
  show_native_gap({sp, pc, fp});
  return go_to_anchor(sp, pc, fp);
}

bool StackWalker::Walk::add_interpreted(const MethodInfo& method, Address live_bcp) {
  const auto slots = w_.machine_->interpreter_slots(w_.major_);
  const Address fp = live_bcp != 0 ? f_.fp : at_.fp;
  if (method.is_native()) {
    add(FrameKind::kInterpreted, method, -1);
  } else if (const auto live = method.bci_of(live_bcp)) {
    add(FrameKind::kInterpreted, method, *live);
  } else {
    const Address bytecode = word(slot(fp, slots.bcp));
    const auto bci = method.bci_of(bytecode);
    add(FrameKind::kInterpreted, method, bci.value_or(0));
    if (bci) remember_interpreted(bytecode);
  }
  return leave_interpreted(fp);
}

Address StackWalker::Walk::sender_sp(Address fp, Address stored) {
  constexpr Address kLargest = 1 << 16;
  return stored < fp + 16 || stored > fp + kLargest ? fp + 16 : stored;
}

bool StackWalker::Walk::leave_unloaded() {
  if (!w_.methods_->may_be_gone()) return false;
  const auto slots = w_.machine_->interpreter_slots(w_.major_);
  const Position caller{word(at_.fp + 8), sender_sp(at_.fp, word(slot(at_.fp, slots.sender_sp))), word(at_.fp)};
  if (!plausible(caller, true)) return false;
  out_.certain = false;
  from_leaf_ = false;
  add(FrameKind::kInterpreted, 0, -1, nullptr);
  return go_to(caller);
}

bool StackWalker::Walk::leave_interpreted(Address fp) {
  const auto slots = w_.machine_->interpreter_slots(w_.major_);
  at_ = {word(fp + 8), sender_sp(fp, word(slot(fp, slots.sender_sp))), word(fp)};
  from_leaf_ = false;
  return true;
}

bool StackWalker::Walk::add_compiled_caller(const CodeBlob& blob) {
  if (blob.kind == BlobKind::kNativeWrapper) {
    add(FrameKind::kNative, blob.method, -1, &blob);
    return true;
  }
  Address pc = at_.pc;
  if (blob.is_deopt_pc(pc)) {
    const Address kept = at_.sp + static_cast<Address>(static_cast<int64_t>(blob.original_pc_offset));
    if (beyond(kept)) return end_with(WalkEnd::kTooShort);
    if (!holds(kept)) return end_with(WalkEnd::kNoCode);
    pc = word(kept);
  }
  const bool exact = blob.at(pc) != nullptr;
  if (!exact && !from_leaf_) return end_with(WalkEnd::kNoCode);
  add_compiled(blob, exact ? pc : pc - 1, at_.sp, exact, false);
  return !ended_;
}

Address StackWalker::Walk::goes_on_at(const CodeBlob& blob, Address pc, Address sp) const {
  std::array<uint8_t, 256> code;
  if (!w_.machine_->follows_code() || !blob.contains(pc)) return blob.code_end;
  const size_t size = std::min<Address>(code.size(), blob.code_end - pc);
  if (!w_.memory_->copy(code.data(), pc, size)) return blob.code_end;
  const auto way = w_.machine_->way_out(std::span(code).first(size),
                                        {{pc, sp, 0}, nullptr, piece_.begin, {piece_.data, piece_.bytes}});
  return way && way->jumps && blob.contains(way->jumps_to) && way->jumps_to < pc ? way->jumps_to : blob.code_end;
}

void StackWalker::Walk::add_compiled(const CodeBlob& blob, Address pc, Address sp, bool exact, bool at_entry) {
  if (blob.kind == BlobKind::kNativeWrapper) return add(FrameKind::kNative, blob.method, -1, &blob);
  constexpr int32_t kHighestTier = 4;
  const FrameKind outermost = blob.level == kHighestTier ? FrameKind::kC2 : FrameKind::kC1;
  if (at_entry) return add(outermost, blob.method, 0, &blob);
  // Between two places that have debug information the next one holds.
  // Whoever releases is interrupted at its call, or has called a stub that does it. Where the frame is to be
  // deoptimised, `pc` is where it will go on, not what it was found by.
  const Address return_address = at_.pc == f_.pc ? pc + 4 : exact ? pc : at_.pc;
  const auto releasing = releasing_scope(blob, return_address, sp);
  const PcDesc* desc = releasing ? nullptr : exact ? blob.at(pc) : blob.at_or_after(pc + 1);
  // A collector's barrier of C2, behind all that has debug information: it holds where the barrier goes on.
  if (desc == nullptr && !releasing) desc = blob.at_or_after(goes_on_at(blob, at_.pc == f_.pc ? pc : pc + 1, sp));
  const Address place = desc == nullptr ? 0 : blob.code_begin + static_cast<Address>(desc->pc_offset);
  if (const ReturnAddress* known = place == 0 ? nullptr : find_known(place)) {
    add_known(*known);
    return;
  }
  const size_t before = out_.frames.size();
  uint32_t offset = desc == nullptr ? releasing.value_or(0) : static_cast<uint32_t>(std::max(desc->scope_offset, 0));
  Scope scope;
  bool any = false;
  while (read_scope(blob.scopes, offset, w_.blobs_->excluded_byte(), scope) && out_.frames.size() < max_depth_) {
    const bool known = scope.method_index > 0 && scope.method_index <= blob.metadata.size();
    const bool inlined = scope.caller_offset != 0;
    add(inlined ? FrameKind::kInlined : outermost, known ? blob.metadata[scope.method_index - 1] : 0,
        std::max(scope.bci, -1), &blob);
    any = true;
    offset = scope.caller_offset;
  }
  if (!any) add(outermost, blob.method, -1, &blob);
  if (place != 0) remember(blob, place, before);
}

}  // namespace tarsier::hotspot
