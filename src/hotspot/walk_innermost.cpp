#include <array>
#include <optional>

#include "hotspot/walk.h"

namespace tarsier::hotspot {

bool StackWalker::Walk::follows_call(Address pc) const {
  std::array<uint8_t, 8> before;
  return w_.memory_->copy(before.data(), pc - before.size(), before.size()) && w_.machine_->follows_call(before);
}

bool StackWalker::Walk::may_return_to(Address pc, bool strictly) const {
  if (pc == 0) return false;
  if (pc == w_.call_stub_return_ || find_known(pc) != nullptr) return true;
  const CodeBlob* blob = w_.blobs_->at(pc);
  if (blob == nullptr) return false;
  switch (blob->kind) {
    case BlobKind::kInterpreter:
    case BlobKind::kContinuationStubs:
      return true;
    case BlobKind::kCompiled:
      return blob->is_deopt_pc(pc) || blob->at(pc) != nullptr ||
             (!strictly && pc > blob->entry && pc < blob->code_end && follows_call(pc));
    case BlobKind::kNativeWrapper:
      return pc > blob->code_begin + static_cast<Address>(std::max(blob->frame_complete, 0));
    case BlobKind::kRuntimeStub:
      return blob->frame_bytes > 0 && pc > blob->code_begin;
    case BlobKind::kUpcallStub:
      return blob->saved_anchor != 0 && follows_call(pc);
    default:
      return false;
  }
}

bool StackWalker::Walk::plausible(const Position& caller, bool strictly, int levels) const {
  if (caller.sp % w_.machine_->stack_alignment() != 0 || !may_return_to(caller.pc, strictly)) return false;
  if (caller.pc == w_.call_stub_return_) return true;
  if (const ReturnAddress* known = find_known(caller.pc))
    return plausible_behind(caller.sp + static_cast<Address>(known->frame_bytes), true, levels);
  const CodeBlob* blob = w_.blobs_->at(caller.pc);
  if (blob == nullptr) return false;  // it was there a moment ago
  if (blob->kind == BlobKind::kContinuationStubs) return true;
  if (blob->kind == BlobKind::kUpcallStub) {
    const Address anchor = caller.sp + static_cast<Address>(blob->saved_anchor) + w_.anchor_sp_;
    return holds(anchor) ? peek(anchor) == 0 || peek(anchor) > caller.sp : beyond(anchor);
  }
  if (blob->kind == BlobKind::kInterpreter) {
    const auto slots = w_.machine_->interpreter_slots(w_.major_);
    const Address method = slot(caller.fp, slots.method);
    if (caller.fp <= caller.sp) return false;
    if (!holds(method)) return beyond(method);
    if (w_.methods_->at(peek(method)) != nullptr) return true;
    // Unless its class may have been unloaded, it should be known; then it is told by where its own caller is.
    if (!w_.methods_->may_be_gone()) return false;
    if (!holds(caller.fp + 8)) return beyond(caller.fp + 8);
    const Position outer{peek(caller.fp + 8), sender_sp(caller.fp, peek(slot(caller.fp, slots.sender_sp))),
                         peek(caller.fp)};
    return levels == 0 ? may_return_to(outer.pc, true) : plausible(outer, true, levels - 1);
  }
  return plausible_behind(caller.sp + static_cast<Address>(blob->frame_bytes), blob->is_method(), levels);
}

bool StackWalker::Walk::plausible_behind(Address end, bool of_method, int levels) const {
  if (!holds(end - 8) || !holds(end - 16)) return beyond(end - 8);
  // Only from a stub may one return to where there is no debug information.
  if (levels == 0) return may_return_to(peek(end - 8), of_method);
  return plausible({peek(end - 8), end, peek(end - 16)}, of_method, levels - 1);
}

bool StackWalker::Walk::find_first() {
  at_ = {f_.pc, f_.sp, f_.fp};
  if (!without_anchor()) {
    if (f_.anchor.sp != 0) {
      out_.start = WalkStart::kAnchor;
      // On their way to the heap the JVM hides the frames of a virtual thread, but they are there.
      if (f_.anchor.sp == f_.continuation && w_.blobs_->at(f_.pc) == nullptr && leave_native(0)) return true;
      if (ended_) return false;
      out_.frames.clear();
      show_native_part({f_.pc, f_.sp, f_.fp}, true, f_.anchor);
      return go_to_anchor(f_.anchor.sp, f_.anchor.pc, f_.anchor.fp);
    }
    // A thread that leaves Java code sets the anchor first.
    if (f_.thread_state != kThreadInJava && f_.thread_state != kThreadInJavaTransition) {
      show_native_part(at_, true, {});
      return end_with(WalkEnd::kNoJavaFrame);
    }
  }
  const CodeBlob* blob = w_.blobs_->at(f_.pc);
  if (blob == nullptr) return leave_native_leaf();
  switch (blob->kind) {
    case BlobKind::kCompiled:
    case BlobKind::kNativeWrapper:
      return leave_compiled(*blob);
    case BlobKind::kInterpreter:
      return leave_interpreter();
    case BlobKind::kAdapter:
      return leave_adapter(*blob);
    case BlobKind::kUpcallStub:
      // The thread's own anchor is gone, so the stub has its frame, and the anchor is there.
      out_.start = WalkStart::kStub;
      add_stub(f_.pc, *blob);
      return without_anchor() ? leave_upcall_stub_by_record() : leave_upcall_stub(*blob);
    default:
      return leave_stub(*blob);
  }
}

bool StackWalker::Walk::in_stub_with_frame() const {
  const CodeBlob* blob = w_.blobs_->at(f_.pc);
  return blob != nullptr && blob->kind == BlobKind::kRuntimeStub && blob->frame_bytes > 0;
}

bool StackWalker::Walk::go_to_anchor(Address sp, Address pc, Address fp) {
  if (pc == 0 && sp == f_.sp && in_stub_with_frame()) {
    pc = f_.pc;  // around its call of C code, which notes its place below sp
  } else if (pc == 0) {
    if (beyond(sp - 8)) return end_with(WalkEnd::kTooShort);
    if (!holds(sp - 8)) return end_with(WalkEnd::kBadAnchor);
    pc = word(sp - 8);
  }
  if (sp < f_.sp) return end_with(WalkEnd::kBadAnchor);
  if (sp >= piece_.end()) return end_with(WalkEnd::kTooShort);
  at_ = {pc, sp, fp};
  from_leaf_ = true;
  return true;
}

Position StackWalker::Walk::unsaved_return() const {
  return w_.machine_->unsaved_return(f_, holds(f_.sp) ? peek(f_.sp) : 0);
}

bool StackWalker::Walk::leave_compiled(const CodeBlob& blob) {
  constexpr size_t kAround = 128;
  const Address from = std::max(blob.code_begin, f_.pc - std::min<Address>(f_.pc, kAround));
  const Address to = std::min(blob.code_end, f_.pc + kAround);
  std::array<uint8_t, 2 * kAround> code{};
  if (!w_.memory_->copy(code.data(), from, to - from)) return end_with(WalkEnd::kNoCode);
  const FrameState state = w_.machine_->frame_state(blob, f_.pc, std::span(code).first(to - from), f_.pc - from);
  if (blob.at_or_after(f_.pc) == nullptr && w_.machine_->is_call_stub(std::span(code).first(to - from), f_.pc - from)) {
    out_.start = WalkStart::kAdapter;
    return try_caller(unsaved_return()) || end_with(WalkEnd::kNoSender);
  }
  add_compiled(blob, f_.pc, f_.sp, false, state != FrameState::kComplete && f_.pc < complete_from(blob));
  if (state != FrameState::kComplete) {
    out_.start = WalkStart::kHalfBuilt;
    // Who waits returns to whoever had called the virtual thread.
    if (blob.kind == BlobKind::kNativeWrapper && yields()) out_.frames[0].called_by_vm = true;
  }

  const Address frame_end = f_.sp + static_cast<Address>(blob.frame_bytes);
  Position caller;
  switch (state) {
    case FrameState::kComplete:
      if (w_.pushed_ != 0) {
        const Address end = frame_end + w_.pushed_;
        const bool holds_caller = holds(end - 8) && holds(end - 16);
        if (!holds_caller || !plausible({peek(end - 8), end, peek(end - 16)}, true)) {
          return end_with(WalkEnd::kNoSender);
        }
        caller = {word(end - 8), end, word(end - 16)};
        break;
      }
      if (!holds(frame_end - 8)) return end_with(WalkEnd::kTooShort);
      caller = {word(frame_end - 8), frame_end, word(frame_end - 16)};
      // Around a call of a stub, what C1 has pushed for it lies below the frame.
      if (w_.machine_->follows_code()) {
        const auto popped = w_.machine_->popped_after_call(std::span(code).first(to - from).subspan(f_.pc - from));
        const Address end = frame_end + static_cast<Address>(popped);
        if (popped > 0 && holds(end - 8)) caller = {word(end - 8), end, word(end - 16)};
      }
      break;
    case FrameState::kNothing:
      caller = unsaved_return();
      break;
    case FrameState::kAllocated:
      caller = unsaved_return();
      caller.sp = frame_end;
      break;
    case FrameState::kLowered:
      if (!holds(frame_end - 8)) return end_with(WalkEnd::kTooShort);
      caller = {word(frame_end - 8), frame_end, f_.fp};
      break;
    case FrameState::kSavedPair:
      if (!holds(f_.sp + 8)) return end_with(WalkEnd::kTooShort);
      caller = {word(f_.sp + 8), f_.sp + 16, word(f_.sp)};
      break;
  }
  if (!may_return_to(caller.pc, true)) {
    // Around a call of a leaf a pair of words may be pushed; or the frame is gone and the poll on the way out is
    // taken.
    const Position pushed{holds(frame_end + 8) ? word(frame_end + 8) : 0, frame_end + 16,
                          holds(frame_end) ? word(frame_end) : 0};
    const Position gone = unsaved_return();
    if (const auto behind = caller_behind_pushed(frame_end)) {
      caller = *behind;
    } else if (may_return_to(pushed.pc, true)) {
      caller = pushed;
    } else if (may_return_to(gone.pc, true) && plausible(gone)) {
      caller = gone;
    } else {
      return leave_continuation_entry() || end_with(WalkEnd::kNoSender);
    }
  }
  // Once it has left the virtual thread, its frame is that by which the thread was entered.
  if (blob.kind == BlobKind::kNativeWrapper && yields() && caller.sp > f_.continuation)
    out_.frames[0].called_by_vm = true;
  at_ = caller;
  return true;
}

// C2 pushes some words while it compresses or searches strings (17 and 25, x86_64).
std::optional<Position> StackWalker::Walk::caller_behind_pushed(Address frame_end) {
  constexpr Address kMostPushed = 64;
  for (Address pushed = 8; w_.machine_->follows_code() && pushed <= kMostPushed; pushed += 8) {
    const Address end = frame_end + pushed;
    if (!holds(end - 8)) return std::nullopt;
    if (!plausible({peek(end - 8), end, peek(end - 16)}, true)) continue;
    return Position{word(end - 8), end, word(end - 16)};
  }
  return std::nullopt;
}

Address StackWalker::Walk::complete_from(const CodeBlob& blob) {
  return blob.code_begin + static_cast<Address>(std::max(blob.frame_complete, 0));
}

bool StackWalker::Walk::leave_interpreter() {
  const auto slots = w_.machine_->interpreter_slots(w_.major_);
  const bool has_frame = holds(slot(f_.fp, slots.bcp)) && holds(f_.fp + 8) && f_.fp > f_.sp;
  const MethodInfo* method = has_frame ? w_.methods_->at(peek(slot(f_.fp, slots.method))) : nullptr;
  // The frame by which the JVM enters Java has a method in the same place, but returns to C code.
  const bool is_own = method != nullptr && may_return_to(peek(f_.fp + 8), true);
  if (is_own) return add_interpreted(*method, w_.machine_->bytecode_pointer(f_));
  // If it can't be told any more whose frame it is, it is one all the same, and what the register holds may be of long
  // ago.
  if (has_frame && method == nullptr && leave_unloaded()) return true;
  // At a method's entry: the frame is not there yet, what the caller has passed lies in registers.
  const MethodInfo* entered = w_.methods_->at(w_.machine_->entry_method(f_));
  const auto caller = entered != nullptr ? caller_at_entry() : std::nullopt;
  if (!caller && method != nullptr) return add_interpreted(*method, w_.machine_->bytecode_pointer(f_));
  if (!caller) return leave_interpreter_by_jump() || end_with(WalkEnd::kNoMethod);
  out_.start = WalkStart::kHalfBuilt;
  add(FrameKind::kInterpreted, *entered, entered->is_native() ? -1 : 0);
  at_ = *caller;
  return true;
}

// A method that returns (17 and 25, x86_64): leave; pop r13; mov rsp, rbx; jmp r13. Its frame is gone by then.
bool StackWalker::Walk::leave_interpreter_by_jump() {
  std::array<uint8_t, 16> code;
  if (!w_.machine_->follows_code() || !w_.memory_->copy(code.data(), f_.pc, code.size())) return false;
  const auto way =
      w_.machine_->way_out(code, {{f_.pc, f_.sp, f_.fp}, f_.general, piece_.begin, {piece_.data, piece_.bytes}});
  if (!way || !way->jumps || way->register_jumped_to == 0) return false;
  const Position caller{way->register_jumped_to, way->caller.sp - 8, way->caller.fp};
  if (!plausible(caller, true)) return false;
  out_.start = WalkStart::kHalfBuilt;
  return go_to(caller);
}

// The entry moves the return address about: it takes it off the stack (x86_64) to make room for the locals, pushes it
// again with the frame pointer, makes that its own, and then pushes the rest of the frame.
std::optional<Position> StackWalker::Walk::caller_at_entry() {
  const Address sender_sp = std::max(w_.machine_->sender_sp(f_, w_.major_), f_.sp);
  constexpr Address kFixedPart = 96;
  const bool has_record = holds(f_.fp + 8) && f_.fp >= f_.sp && f_.fp - f_.sp <= kFixedPart;
  const Position unsaved = unsaved_return();
  if (may_return_to(unsaved.pc, true)) {
    const bool pushed = has_record && peek(f_.fp + 8) == unsaved.pc;
    return Position{unsaved.pc, sender_sp, pushed ? word(f_.fp) : unsaved.fp};
  }
  if (has_record && may_return_to(peek(f_.fp + 8), true)) {
    // What the register holds is no longer the caller's sp once that has been pushed.
    const Address slot_of_sp = slot(f_.fp, w_.machine_->interpreter_slots(w_.major_).sender_sp);
    return Position{word(f_.fp + 8), holds(slot_of_sp) ? std::max(word(slot_of_sp), f_.sp) : sender_sp, word(f_.fp)};
  }
  if (holds(f_.sp + 8) && may_return_to(peek(f_.sp + 8), true)) {  // the frame pointer is pushed, and not yet set
    return Position{word(f_.sp + 8), sender_sp, word(f_.sp)};
  }
  const Address popped = w_.machine_->popped_return(f_);
  if (popped != 0 && may_return_to(popped, true)) return Position{popped, sender_sp, f_.fp};
  return std::nullopt;
}

// The instructions of the interrupted stub up to pc, and one more.
class StackWalker::Walk::StubCode {
 public:
  StubCode(const Walk& walk, const CodeBlob& blob) : walk_(walk) {
    const Address pc = walk.f_.pc;
    const Address from = std::max(blob.code_begin, pc - std::min<Address>(pc, kMost));
    before_ = pc - from;
    readable_ = walk.w_.memory_->copy(code_.data(), from, before_ + 4);
    from_start_ = from == blob.code_begin;
  }
  [[nodiscard]] bool from_the_start() const { return readable_ && from_start_; }
  [[nodiscard]] std::span<const uint8_t> before() const { return std::span(code_).first(readable_ ? before_ : 0); }
  [[nodiscard]] bool just_saved_pair() const {
    return readable_ && walk_.w_.machine_->just_saved_pair(std::span(code_).first(before_ + 4), before_);
  }

 private:
  static constexpr Address kMost = 1024;
  const Walk& walk_;
  std::array<uint8_t, kMost + 8> code_{};
  size_t before_ = 0;
  bool readable_ = false, from_start_ = false;
};

bool StackWalker::Walk::leave_adapter(const CodeBlob& blob) {
  out_.start = WalkStart::kAdapter;
  add_stub(f_.pc, blob);
  const Position unsaved = unsaved_return();
  if (follow_stub(blob, at_, f_.general)) return true;
  const StubCode code(*this, blob);
  if (const auto pushed = w_.machine_->pushed_by_stub(code.before(), true)) {
    if (try_caller({unsaved.pc, unsaved.sp + static_cast<Address>(*pushed), unsaved.fp})) return true;
  }
  // An adapter lowers sp for the arguments; it passes on where that was before.
  constexpr Address kMostArguments = 4096;
  const Position moved{unsaved.pc, w_.machine_->sender_sp(f_, w_.major_), unsaved.fp};
  if (passes_sp(blob) && moved.sp >= f_.sp && moved.sp - f_.sp <= kMostArguments && try_caller(moved)) return true;
  from_leaf_ = true;
  return try_record(at_) || try_caller(unsaved) || end_with(WalkEnd::kNoSender);
}

bool StackWalker::Walk::leave_stub(const CodeBlob& blob) {
  add_stub(f_.pc, blob);
  out_.start = WalkStart::kStub;
  from_leaf_ = true;
  const StubCode code(*this, blob);
  if (code.just_saved_pair() && holds(f_.sp + 8) && try_caller({word(f_.sp + 8), f_.sp + 16, word(f_.sp)})) return true;
  if (blob.name == "ExceptionBlob" || blob.name.ends_with("exception_blob")) {
    // It pushes first where the exception was thrown, as if it had been called from there.
    if (f_.pc == blob.code_begin && try_caller({w_.machine_->thrown_at(f_), f_.sp, f_.fp})) return true;
    if (f_.pc == blob.code_begin + 1 && w_.machine_->thrown_at(f_) != 0 && try_caller(unsaved_return())) return true;
  } else if (f_.pc == blob.code_begin && blob.kind == BlobKind::kRuntimeStub && try_caller(unsaved_return())) {
    return true;  // in a recursion its frame would look right, too
  } else if (follow_stub(blob, at_, f_.general)) {
    return true;
  }
  if (try_frame(blob, at_)) return true;
  const Position unsaved = unsaved_return();
  if (code.from_the_start() && blob.kind != BlobKind::kStubRoutines) {
    const auto pushed = w_.machine_->pushed_by_stub(code.before(), false);
    if (pushed && try_caller({unsaved.pc, unsaved.sp + static_cast<Address>(*pushed), unsaved.fp})) return true;
  }
  if (try_record(at_)) return true;
  for (Address pushed = 0; pushed <= 256; pushed += 16) {
    if (try_caller({unsaved.pc, unsaved.sp + pushed, unsaved.fp})) return true;
  }
  if (leave_stub_of_native()) return true;
  if (!ended_ && blob.kind == BlobKind::kContinuationStubs) return go_to(at_);  // those that lie in the heap come next
  return !ended_ && (try_words(at_) || end_with(WalkEnd::kNoSender));
}

bool StackWalker::Walk::passes_sp(const CodeBlob& blob) {
  return blob.kind == BlobKind::kAdapter && blob.name.find("table") == std::string::npos;
}

bool StackWalker::Walk::follow_stub(const CodeBlob& blob, const Position& stub, const uint64_t* general) {
  if (!w_.machine_->follows_code() || stub.pc < blob.code_begin || stub.pc >= blob.code_end) return false;
  // Most of them are short; not more is read, and saved, than is needed: behind the interrupted instruction, and for
  // those that go round in large loops before it, too.
  struct Part {
    size_t before, behind;
  };
  std::array<uint8_t, 16384> code;
  std::optional<Machine::WayOut> way;
  for (const Part part : {Part{0, 64}, {0, 256}, {0, 2048}, {8192, 8192}}) {
    const Address from = stub.pc - std::min<Address>(part.before, stub.pc - blob.code_begin);
    const Address to = stub.pc + std::min<Address>(part.behind, blob.code_end - stub.pc);
    if (!w_.memory_->copy(code.data(), from, to - from)) return false;
    way = w_.machine_->way_out(std::span(code).first(to - from),
                               {stub, general, piece_.begin, std::span(piece_.data, piece_.bytes), from});
    if (way && blob.contains(way->jumps_to)) way.reset();
    if (way || (to == blob.code_end && from == blob.code_begin)) break;
  }
  if (!way) return false;
  Position caller = way->caller;
  if (way->jumps) {
    // Stubs that are left by a jump may have taken their return address with them; these have not.
    const bool keeps_return = blob.kind == BlobKind::kAdapter || blob.name.find("resolve_") != std::string::npos ||
                              blob.name.find("wrong_method") != std::string::npos ||
                              blob.name.find("ic_miss") != std::string::npos;
    if (!keeps_return) return false;
    constexpr Address kMostArguments = 4096;
    const Address sp = way->passed_sp;
    // Where it jumps to a stub of the JVM, it was not yet at that.
    if (passes_sp(blob) && way->jumps_to == 0 && sp >= stub.sp && sp - stub.sp <= kMostArguments) caller.sp = sp;
  }
  if (holds(caller.sp - 8)) word(caller.sp - 8);  // so much of the stack is needed
  return try_caller(caller);
}

bool StackWalker::Walk::leave_stub_of_native() {
  const auto native = native_caller_of_stub();
  if (!native) return false;
  at_ = *native;
  return leave_native(1);
}

std::optional<Position> StackWalker::Walk::native_caller_of_stub() {
  if (w_.native_ == nullptr) return std::nullopt;
  const Position unsaved = unsaved_return();
  // The frame record that fp leads to is the stub's own if the stub was called from where it says, or has called
  // itself; before it is pushed it is the caller's.
  Position native = unsaved;
  if (holds(f_.fp + 8) && f_.fp >= f_.sp && f_.fp - f_.sp < kNear && w_.native_->rule_at(peek(f_.fp + 8) - 1) &&
      (peek(f_.fp + 8) == unsaved.pc || !w_.native_->rule_at(unsaved.pc - 1))) {
    native = {word(f_.fp + 8), f_.fp + 16, word(f_.fp)};
  }
  return w_.native_->rule_at(native.pc - 1) ? std::optional(native) : std::nullopt;
}

bool StackWalker::Walk::try_frame(const CodeBlob& blob, const Position& stub) {
  const Address frame_end = stub.sp + static_cast<Address>(blob.frame_bytes);
  return blob.frame_bytes > 0 && holds(frame_end - 8) && holds(frame_end - 16) &&
         try_caller({word(frame_end - 8), frame_end, word(frame_end - 16)});
}

bool StackWalker::Walk::try_record(const Position& stub) {
  return stub.fp >= stub.sp && stub.fp - stub.sp < kNear && holds(stub.fp + 8) &&
         try_caller({word(stub.fp + 8), stub.fp + 16, word(stub.fp)});
}

bool StackWalker::Walk::try_words(const Position& stub) {
  for (Address slot = stub.sp; slot < stub.sp + kNear && holds(slot); slot += 8) {
    const Address fp = holds(slot - 8) ? peek(slot - 8) : stub.fp;
    const Address alignment = w_.machine_->stack_alignment();
    if (try_caller({peek(slot), (slot + 8 + alignment - 1) & ~(alignment - 1), fp})) return true;
  }
  return false;
}

bool StackWalker::Walk::try_caller(const Position& caller) {
  // Around a call of a leaf compiled code may push words; what it pops behind the call tells how many.
  const CodeBlob* blob = w_.blobs_->at(caller.pc);
  if (blob != nullptr && blob->kind == BlobKind::kCompiled && blob->at(caller.pc) == nullptr) {
    Position popped = caller;
    popped.sp += popped_after(*blob, caller.pc);
    if (popped.sp != caller.sp && plausible(popped)) return go_to(popped);
  }
  return plausible(caller) && go_to(caller);
}

bool StackWalker::Walk::go_to(const Position& position) {
  at_ = position;
  return true;
}

Address StackWalker::Walk::popped_after(const CodeBlob& blob, Address pc) const {
  std::array<uint8_t, 256> code{};
  const size_t size = std::min<Address>(code.size(), blob.code_end - pc);
  if (!w_.memory_->copy(code.data(), pc, size)) return 0;
  return static_cast<Address>(w_.machine_->popped_after_call(std::span(code).first(size)));
}

bool StackWalker::Walk::leave_native_leaf() {
  out_.start = WalkStart::kNativeLeaf;
  return leave_native(0) || (!ended_ && end_with(WalkEnd::kNoSender));
}

bool StackWalker::Walk::leave_native(int depth) {
  from_leaf_ = true;
  for (; depth < kMaxNative; ++depth) {
    if (depth > 0 && w_.blobs_->at(at_.pc) != nullptr) return find_java_caller();
    show_native(at_.pc, depth == 0);
    switch (leave_native_frame(at_, depth == 0)) {
      case NativeStep::kCaller:
        break;
      case NativeStep::kOutermost:
        return end_with(WalkEnd::kNoJavaFrame);
      case NativeStep::kTooShort:
        return end_with(WalkEnd::kTooShort);
      case NativeStep::kUnknown: {
        if (is_signal_return(at_.pc)) {
          signal_frame_ = at_.sp;
          return false;
        }
        const auto caller = depth == 0 ? return_from_leaf() : std::nullopt;
        if (!caller) return false;
        at_ = *caller;
        break;
      }
    }
  }
  return false;
}

std::optional<Position> StackWalker::Walk::return_from_leaf() const {
  const Position caller = unsaved_return();
  if (w_.native_ == nullptr || (!w_.native_->rule_at(caller.pc - 1) && w_.blobs_->at(caller.pc) == nullptr))
    return std::nullopt;
  return caller;
}

bool StackWalker::Walk::leave_upcall_stub_by_record() {
  if (!holds(at_.fp + 8) || at_.fp < at_.sp) return end_with(WalkEnd::kNoSender);
  at_ = {word(at_.fp + 8), at_.fp + 16, word(at_.fp)};
  return leave_native(1) || (!ended_ && end_with(WalkEnd::kNoSender));
}

bool StackWalker::Walk::find_java_caller() {
  const CodeBlob* blob = w_.blobs_->at(at_.pc);
  // Compiled code and stubs call leaves themselves. Whatever needs the JVM, or may wait, is called by something else.
  const bool by_itself = blob->kind == BlobKind::kCompiled || blob->kind == BlobKind::kStubRoutines;
  if (without_anchor() && out_.start == WalkStart::kNativeLeaf && !by_itself) out_.start = WalkStart::kUnwound;
  if (blob->kind == BlobKind::kUpcallStub) {
    add_stub(at_.pc, *blob);
    return without_anchor() ? leave_upcall_stub_by_record() : leave_upcall_stub(*blob);
  }
  if (blob->kind == BlobKind::kStubRoutines || blob->kind == BlobKind::kAdapter ||
      (blob->kind == BlobKind::kRuntimeStub && blob->frame_bytes <= 0)) {
    const Position stub = at_;
    add_stub(at_.pc, *blob);
    return follow_stub(*blob, stub, nullptr) || try_record(stub) || try_words(stub) || end_with(WalkEnd::kNoSender);
  }
  if (try_caller(at_)) return true;
  // Before such a call compiled code may push what it needs later: a pair of words (C2 up to 11 on aarch64), or
  // registers (a collector's barriers).
  constexpr Address kMostPushed = 1024;
  const Position caller = at_;
  for (Address pushed = 8; pushed <= kMostPushed; pushed += 8) {
    if (try_caller({caller.pc, caller.sp + pushed, caller.fp})) return true;
  }
  return end_with(WalkEnd::kNoSender);
}

}  // namespace tarsier::hotspot
