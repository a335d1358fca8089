#include "hotspot/stack_walker.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

namespace tarsier::hotspot {

constexpr int kFirstWithContinuations = 19;

std::string_view name_of(WalkEnd end) {
  constexpr std::string_view kNames[] = {
      "complete",           "no Java frame",   "fragment too short", "no sender", "no code",
      "no method",          "bad entry frame", "bad anchor",         "too deep",  "frozen frames not copied",
      "frames being thawed"};
  static_assert(std::size(kNames) == static_cast<size_t>(WalkEnd::kCount));
  return kNames[static_cast<size_t>(end)];
}

std::string_view name_of(WalkStart start) {
  constexpr std::string_view kNames[] = {"plain", "anchor", "half-built frame", "adapter", "stub", "native leaf"};
  static_assert(std::size(kNames) == static_cast<size_t>(WalkStart::kCount));
  return kNames[static_cast<size_t>(start)];
}

Result<StackWalker> StackWalker::find(const Memory& memory, const VmStructs& structs, CodeBlobs& blobs,
                                      Methods& methods, const Machine& machine, int major, const NativeFrames* native) {
  StackWalker walker(memory, blobs, methods, machine, major);
  walker.native_ = native;
  const auto call_stub = structs.address("StubRoutines", "_call_stub_return_address");
  const auto anchor = structs.offset("JavaCallWrapper", "_anchor");
  const auto sp = structs.offset("JavaFrameAnchor", "_last_Java_sp");
  const auto pc = structs.offset("JavaFrameAnchor", "_last_Java_pc");
  const auto fp = structs.offset("JavaFrameAnchor", "_last_Java_fp");
  if (!call_stub || !anchor || !sp || !pc || !fp) {
    return Error{Errc::kUnsupported, "this JVM's vmStructs do not tell how Java code is entered"};
  }
  walker.call_stub_return_ = memory.read<Address>(*call_stub).value_or(0);
  if (walker.call_stub_return_ == 0) return Error{Errc::kUnsupported, "this JVM has not started up yet"};
  walker.wrapper_anchor_ = *anchor;
  walker.anchor_sp_ = *sp;
  walker.anchor_pc_ = *pc;
  walker.anchor_fp_ = *fp;
  return walker;
}

// One walk. Positions are only ever taken from the fragment, whose memory does not change; code and methods are looked
// up as they are now.
class StackWalker::Walk {
 public:
  Walk(StackWalker& walker, const Fragment& fragment, size_t max_depth, WalkedStack& out)
      : w_(walker),
        f_(fragment),
        max_depth_(max_depth),
        out_(out),
        piece_{fragment.sp, fragment.stack_bytes, fragment.stack()},
        frozen_(fragment.frozen()),
        frozen_end_(fragment.frozen() + fragment.frozen_bytes) {}

  void run() {
    if (!find_first()) return;
    constexpr int kMaxSteps = 1 << 16;
    for (int step = 0; step < kMaxSteps; ++step) {
      if (out_.frames.size() >= max_depth_) return stop(WalkEnd::kTooDeep);
      if (!(is_frozen_ ? next_frozen() : next())) return;
    }
    stop(WalkEnd::kTooDeep);
  }

 private:
  // --- the fragment ---
  // A piece of it: what lies on the stack, or what is frozen in one object of the heap.
  struct Piece {
    Address begin;
    uint32_t bytes;
    const uint8_t* data;

    [[nodiscard]] Address end() const { return begin + bytes; }
  };
  // Addresses come from the stack and from registers, so they may be anything: no sum here may wrap.
  [[nodiscard]] bool within(Address at) const {
    return at >= piece_.begin && piece_.bytes >= 8 && at - piece_.begin <= piece_.bytes - 8;
  }
  [[nodiscard]] bool holds(Address at) const { return within(at) && at % 8 == 0; }
  [[nodiscard]] bool beyond(Address at) const { return at >= piece_.begin && !within(at); }
  uint64_t word(Address at) {
    if (within(at) && !is_frozen_) out_.highest = std::max(out_.highest, at + 8);
    return peek(at);
  }
  // 0 outside, whatever was checked before.
  [[nodiscard]] uint64_t peek(Address at) const {
    uint64_t value = 0;
    if (!within(at)) return value;
    std::memcpy(&value, piece_.data + (at - piece_.begin), sizeof(value));
    return value;
  }

  void stop(WalkEnd end) {
    out_.end = end;
    out_.stopped_at = at_.pc;
  }
  bool end_with(WalkEnd end) {
    stop(end);
    return false;
  }
  void add(FrameKind kind, Address method, int32_t bci, const CodeBlob* blob) {
    out_.frames.push_back({kind, false, bci, method, method != 0 ? w_.methods_->at(method) : nullptr, blob, nullptr});
  }
  void add_stub(Address pc, const CodeBlob& blob) {
    out_.frames.push_back({FrameKind::kStub, false, -1, pc, nullptr, &blob, nullptr});
  }
  void add(FrameKind kind, const MethodInfo& method, int32_t bci) {
    out_.frames.push_back({kind, false, bci, method.method, &method, nullptr, nullptr});
  }

  // --- is this a return address? ---
  [[nodiscard]] bool follows_call(Address pc) const {
    std::array<uint8_t, 8> before;
    return w_.memory_->copy(before.data(), pc - before.size(), before.size()) && w_.machine_->follows_call(before);
  }
  // Strictly: one at which a JVM could stop. Otherwise also one behind a call of a leaf, which needs no debug info.
  [[nodiscard]] bool may_return_to(Address pc, bool strictly) const {
    if (pc == 0) return false;
    if (pc == w_.call_stub_return_) return true;
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
      default:
        return false;
    }
  }
  // Could this be the caller's frame? Its own return address must be one, too.
  [[nodiscard]] bool plausible(const Position& caller) const {
    if (caller.sp % w_.machine_->stack_alignment() != 0 || !may_return_to(caller.pc, false)) return false;
    if (caller.pc == w_.call_stub_return_) return true;
    const CodeBlob* blob = w_.blobs_->at(caller.pc);
    if (blob->kind == BlobKind::kInterpreter || blob->kind == BlobKind::kContinuationStubs) return true;
    const Address slot = caller.sp + static_cast<Address>(blob->frame_bytes) - 8;
    return holds(slot) ? may_return_to(peek(slot), false) : beyond(slot);
  }

  // --- the innermost frame ---
  bool find_first() {
    at_ = {f_.pc, f_.sp, f_.fp};
    if (f_.anchor.sp != 0) {
      out_.start = WalkStart::kAnchor;
      return go_to_anchor(f_.anchor.sp, f_.anchor.pc, f_.anchor.fp);
    }
    if (f_.thread_state != kThreadInJava && w_.blobs_->at(f_.pc) == nullptr) return end_with(WalkEnd::kNoJavaFrame);
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
      default:
        return leave_stub(*blob);
    }
  }

  bool go_to_anchor(Address sp, Address pc, Address fp) {
    if (pc == 0) {
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

  [[nodiscard]] Position unsaved_return() const {
    return w_.machine_->unsaved_return(f_, holds(f_.sp) ? peek(f_.sp) : 0);
  }

  bool leave_compiled(const CodeBlob& blob) {
    constexpr size_t kAround = 128;
    const Address from = std::max(blob.code_begin, f_.pc - std::min<Address>(f_.pc, kAround));
    const Address to = std::min(blob.code_end, f_.pc + kAround);
    std::array<uint8_t, 2 * kAround> code{};
    if (!w_.memory_->copy(code.data(), from, to - from)) return end_with(WalkEnd::kNoCode);
    const FrameState state = w_.machine_->frame_state(blob, f_.pc, std::span(code).first(to - from), f_.pc - from);
    add_compiled(blob, f_.pc, false, state != FrameState::kComplete && f_.pc < complete_from(blob));
    if (state != FrameState::kComplete) out_.start = WalkStart::kHalfBuilt;

    const Address frame_end = f_.sp + static_cast<Address>(blob.frame_bytes);
    Position caller;
    switch (state) {
      case FrameState::kComplete:
        if (!holds(frame_end - 8)) return end_with(WalkEnd::kTooShort);
        caller = {word(frame_end - 8), frame_end, word(frame_end - 16)};
        break;
      case FrameState::kNothing:
        caller = unsaved_return();
        break;
      case FrameState::kAllocated:
        caller = unsaved_return();
        caller.sp = frame_end;
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
      if (may_return_to(pushed.pc, true)) {
        caller = pushed;
      } else if (may_return_to(gone.pc, true) && plausible(gone)) {
        caller = gone;
      } else {
        return end_with(WalkEnd::kNoSender);
      }
    }
    at_ = caller;
    return true;
  }
  [[nodiscard]] static Address complete_from(const CodeBlob& blob) {
    return blob.code_begin + static_cast<Address>(std::max(blob.frame_complete, 0));
  }

  bool leave_interpreter() {
    const auto slots = w_.machine_->interpreter_slots();
    const MethodInfo* method = nullptr;
    if (holds(slot(f_.fp, slots.bcp)) && holds(f_.fp + 8) && f_.fp > f_.sp) {
      method = w_.methods_->at(peek(slot(f_.fp, slots.method)));
    }
    if (method != nullptr) return add_interpreted(*method, w_.machine_->bytecode_pointer(f_));
    // At a method's entry: the frame is not there yet, what the caller has passed lies in registers.
    const MethodInfo* entered = w_.methods_->at(w_.machine_->entry_method(f_));
    const Position caller = unsaved_return();
    if (entered == nullptr || !may_return_to(caller.pc, true)) return end_with(WalkEnd::kNoMethod);
    out_.start = WalkStart::kHalfBuilt;
    add(FrameKind::kInterpreted, *entered, entered->is_native() ? -1 : 0);
    at_ = caller;
    // The frame record may already be pushed.
    if (holds(f_.fp + 8) && f_.fp >= f_.sp && f_.fp - f_.sp <= 96 && peek(f_.fp + 8) == caller.pc) {
      at_.fp = word(f_.fp);
    }
    at_.sp = std::max(w_.machine_->sender_sp(f_, w_.major_), f_.sp);
    return true;
  }

  bool leave_adapter(const CodeBlob& blob) {
    out_.start = WalkStart::kAdapter;
    add_stub(f_.pc, blob);
    const Position unsaved = unsaved_return();
    const StubCode code(*this, blob);
    if (const auto pushed = w_.machine_->pushed_by_stub(code.before(), true)) {
      if (try_caller({unsaved.pc, unsaved.sp + static_cast<Address>(*pushed), unsaved.fp})) return true;
    }
    // An adapter lowers sp for the arguments; it passes on where that was before.
    constexpr Address kMostArguments = 4096;
    const Position moved{unsaved.pc, w_.machine_->sender_sp(f_, w_.major_), unsaved.fp};
    if (moved.sp >= f_.sp && moved.sp - f_.sp <= kMostArguments && try_caller(moved)) return true;
    from_leaf_ = true;
    return try_record(at_) || try_caller(unsaved) || end_with(WalkEnd::kNoSender);
  }

  // Stubs keep frames as they like: try the ways in which it is done, and believe the first that leads somewhere.
  bool leave_stub(const CodeBlob& blob) {
    add_stub(f_.pc, blob);
    out_.start = WalkStart::kStub;
    from_leaf_ = true;
    const StubCode code(*this, blob);
    if (code.just_saved_pair() && holds(f_.sp + 8) && try_caller({word(f_.sp + 8), f_.sp + 16, word(f_.sp)}))
      return true;
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
    return leave_stub_of_native(unsaved) || try_words(at_) || end_with(WalkEnd::kNoSender);
  }
  // The JVM's own code uses some stubs, and enters Java by one: then native frames come first.
  bool leave_stub_of_native(const Position& unsaved) {
    if (w_.native_ == nullptr) return false;
    Position native = unsaved;
    if (holds(f_.fp + 8) && f_.fp >= f_.sp && f_.fp - f_.sp < kNear && w_.native_->rule_at(peek(f_.fp + 8) - 1)) {
      native = {word(f_.fp + 8), f_.fp + 16, word(f_.fp)};
    }
    if (!w_.native_->rule_at(native.pc - 1)) return false;
    at_ = native;
    return leave_native(1);
  }
  // The instructions of the interrupted stub up to pc, and one more.
  class StubCode {
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
  // By the size of its frame, if it has one.
  bool try_frame(const CodeBlob& blob, const Position& stub) {
    const Address frame_end = stub.sp + static_cast<Address>(blob.frame_bytes);
    return blob.frame_bytes > 0 && holds(frame_end - 8) && holds(frame_end - 16) &&
           try_caller({word(frame_end - 8), frame_end, word(frame_end - 16)});
  }
  // By the frame record that fp leads to.
  bool try_record(const Position& stub) {
    return stub.fp >= stub.sp && stub.fp - stub.sp < kNear && holds(stub.fp + 8) &&
           try_caller({word(stub.fp + 8), stub.fp + 16, word(stub.fp)});
  }
  // By anything on the stack that looks like a return address, and the frame behind it as well.
  bool try_words(const Position& stub) {
    for (Address slot = stub.sp; slot < stub.sp + kNear && holds(slot); slot += 8) {
      const Address fp = holds(slot - 8) ? peek(slot - 8) : stub.fp;
      const Address alignment = w_.machine_->stack_alignment();
      if (try_caller({peek(slot), (slot + 8 + alignment - 1) & ~(alignment - 1), fp})) return true;
    }
    return false;
  }
  static constexpr Address kNear = 512;
  bool try_caller(const Position& caller) {
    // Around a call of a leaf compiled code may push words; what it pops behind the call tells how many.
    const CodeBlob* blob = w_.blobs_->at(caller.pc);
    if (blob != nullptr && blob->kind == BlobKind::kCompiled && blob->at(caller.pc) == nullptr) {
      Position popped = caller;
      popped.sp += popped_after(*blob, caller.pc);
      if (popped.sp != caller.sp && plausible(popped)) return go_to(popped);
    }
    return plausible(caller) && go_to(caller);
  }
  bool go_to(const Position& position) {
    at_ = position;
    return true;
  }
  [[nodiscard]] Address popped_after(const CodeBlob& blob, Address pc) const {
    std::array<uint8_t, 256> code{};
    const size_t size = std::min<Address>(code.size(), blob.code_end - pc);
    if (!w_.memory_->copy(code.data(), pc, size)) return 0;
    return static_cast<Address>(w_.machine_->popped_after_call(std::span(code).first(size)));
  }

  // In C++ code that Java has called without telling the JVM.
  bool leave_native_leaf() {
    out_.start = WalkStart::kNativeLeaf;
    return leave_native(0) || end_with(WalkEnd::kNoSender);
  }
  // `depth` > 0: at_.pc is a return address.
  bool leave_native(int depth) {
    from_leaf_ = true;
    constexpr int kMaxNative = 64;
    for (; depth < kMaxNative; ++depth) {
      if (depth > 0 && w_.blobs_->at(at_.pc) != nullptr) return find_java_caller();
      // A return address may be the first one behind a function that does not return.
      const auto rule = w_.native_ == nullptr ? std::nullopt : w_.native_->rule_at(at_.pc - (depth > 0 ? 1 : 0));
      if (!rule && depth == 0 && return_from_leaf()) continue;
      if (!rule) break;
      const Address cfa = (rule->by_fp ? at_.fp : at_.sp) + static_cast<Address>(rule->cfa_offset);
      Position caller{0, cfa, at_.fp};
      const auto load = [&](int64_t offset, Address& value) {
        const Address slot = cfa + static_cast<Address>(offset);
        if (!holds(slot)) return false;
        value = word(slot);
        return true;
      };
      if (cfa < at_.sp) break;
      if (beyond(cfa - 8)) return end_with(WalkEnd::kTooShort);
      if (rule->ra_saved) {
        if (!load(rule->ra_offset, caller.pc)) break;
      } else if (depth > 0) {
        break;
      } else {
        caller.pc = unsaved_return().pc;
      }
      if (rule->fp_saved && !load(rule->fp_offset, caller.fp)) break;
      at_ = caller;
    }
    return false;
  }
  // Nothing describes the interrupted code, as in the jumps from one library to the next: they have no frame.
  bool return_from_leaf() {
    const Position caller = unsaved_return();
    if (w_.native_ == nullptr || (!w_.native_->rule_at(caller.pc - 1) && w_.blobs_->at(caller.pc) == nullptr))
      return false;
    return go_to(caller);
  }
  // at_ is what has called: Java code, or a stub.
  bool find_java_caller() {
    const CodeBlob* blob = w_.blobs_->at(at_.pc);
    if (blob->kind == BlobKind::kStubRoutines || blob->kind == BlobKind::kAdapter ||
        (blob->kind == BlobKind::kRuntimeStub && blob->frame_bytes <= 0)) {
      const Position stub = at_;
      add_stub(at_.pc, *blob);
      return try_record(stub) || try_words(stub) || end_with(WalkEnd::kNoSender);
    }
    // Up to JDK 11 on aarch64 C2 pushes a pair of words before such a call.
    Position pair = at_;
    pair.sp += 16;
    return try_caller(at_) || try_caller(pair) || end_with(WalkEnd::kNoSender);
  }

  // --- the other frames ---
  bool next() {
    if (at_.pc == w_.call_stub_return_) return leave_entry_frame();
    if (const ReturnAddress* known = find_known()) return add_known(*known) && leave_frame(*known->blob);
    const CodeBlob* blob = w_.blobs_->at(at_.pc);
    if (blob == nullptr) return end_with(WalkEnd::kNoCode);
    if (blob->kind == BlobKind::kContinuationStubs) return return_to_frozen();
    if (is_continuation_entry(*blob)) return end_of_virtual_thread();
    if (blob->kind == BlobKind::kInterpreter) {
      const auto slots = w_.machine_->interpreter_slots();
      if (beyond(at_.fp + 8)) return end_with(WalkEnd::kTooShort);
      if (!holds(slot(at_.fp, slots.bcp))) return end_with(WalkEnd::kNoMethod);
      const MethodInfo* method = w_.methods_->at(word(slot(at_.fp, slots.method)));
      if (method != nullptr) return add_interpreted(*method, 0);
      // Its class may be gone by now; that it was here is told by where its caller is.
      const Position caller{word(at_.fp + 8), word(slot(at_.fp, slots.sender_sp)), word(at_.fp)};
      if (caller.sp <= at_.fp || !plausible(caller)) return end_with(WalkEnd::kNoMethod);
      add(FrameKind::kInterpreted, 0, -1, nullptr);
      return go_to(caller);
    }
    if (blob->frame_bytes <= 0) return end_with(WalkEnd::kNoSender);
    if (blob->is_method() && !add_compiled_caller(*blob)) return false;
    return leave_frame(*blob);
  }
  // By its size.
  bool leave_frame(const CodeBlob& blob) {
    const Address frame_end = at_.sp + static_cast<Address>(blob.frame_bytes);
    if (beyond(frame_end - 8)) return end_with(WalkEnd::kTooShort);
    if (!holds(frame_end - 16)) return end_with(WalkEnd::kNoSender);
    // What a runtime stub returns to may be a call without debug information.
    from_leaf_ = !blob.is_method();
    at_ = {word(frame_end - 8), frame_end, word(frame_end - 16)};
    return true;
  }

  // --- return addresses that were seen before ---
  [[nodiscard]] ReturnAddress& slot_of(Address pc) const {
    constexpr uint64_t kSpread = 0x9e3779b97f4a7c15;
    static_assert(kReturnAddresses == 1 << 13);
    return w_.return_addresses_[(pc * kSpread) >> (64 - 13)];
  }
  [[nodiscard]] const ReturnAddress* find_known() const {
    const ReturnAddress& known = slot_of(at_.pc);
    const bool same =
        known.pc == at_.pc && known.era == w_.blobs_->era() && w_.methods_->settled_epoch() == known.epoch;
    return same && w_.blobs_->is_there(*known.blob) ? &known : nullptr;
  }
  bool add_known(const ReturnAddress& known) {
    if (known.frames.size() > max_depth_ - out_.frames.size()) {
      out_.frames.insert(out_.frames.end(), known.frames.begin(),
                         known.frames.begin() + static_cast<ptrdiff_t>(max_depth_ - out_.frames.size()));
      return end_with(WalkEnd::kTooDeep);
    }
    out_.frames.insert(out_.frames.end(), known.frames.begin(), known.frames.end());
    return true;
  }
  // What has been added since there were `before` frames.
  void remember(const CodeBlob& blob, size_t before) {
    const auto epoch = w_.methods_->settled_epoch();
    if (!epoch || out_.frames.size() >= max_depth_) return;
    ReturnAddress& slot = slot_of(at_.pc);
    slot.pc = at_.pc;
    slot.era = w_.blobs_->era();
    slot.epoch = *epoch;
    slot.blob = &blob;
    slot.frames.assign(out_.frames.begin() + static_cast<ptrdiff_t>(before), out_.frames.end());
    for (size_t i = 0; i < std::min(slot.frames.size(), slot.checked.size()); ++i) {
      slot.frames[i].checked = &slot.checked[i];
      out_.frames[before + i].checked = &slot.checked[i];
    }
  }

  // --- virtual threads ---
  [[nodiscard]] bool is_continuation_entry(const CodeBlob& blob) {
    if (blob.kind != BlobKind::kNativeWrapper || w_.major_ < kFirstWithContinuations) return false;
    if (w_.continuation_entry_ != 0) return blob.method == w_.continuation_entry_;
    const MethodInfo* method = w_.methods_->at(blob.method);
    if (method == nullptr || method->name != "enterSpecial" || method->class_name != "jdk/internal/vm/Continuation") {
      return false;
    }
    w_.continuation_entry_ = blob.method;  // of the JVM's own loader: it stays
    return true;
  }
  bool end_of_virtual_thread() {
    out_.is_virtual = true;
    return end_with(thaws_ ? WalkEnd::kThawing : WalkEnd::kComplete);
  }
  // Frames are returned to that lie in the heap.
  bool return_to_frozen() {
    out_.is_virtual = true;
    // Without a frame of its own on the stack it is busy with moving some there. They are neither here nor there, from
    // when room has been made for them.
    const bool any = std::any_of(out_.frames.begin(), out_.frames.end(),
                                 [](const WalkedFrame& frame) { return frame.kind != FrameKind::kStub; });
    constexpr Address kBeforeRoomIsMade = 96;
    thaws_ = !any && !(f_.continuation >= at_.sp && f_.continuation - at_.sp <= kBeforeRoomIsMade);
    if (!any && out_.frames.empty()) add_stub(at_.pc, *w_.blobs_->at(at_.pc));
    if (frozen_ == frozen_end_) return end_with(WalkEnd::kNotThawed);
    is_frozen_ = true;
    return next_part();
  }
  bool next_part() {
    if (piece_is_cut_) return end_with(WalkEnd::kTooShort);
    FrozenPart part{};
    if (frozen_ == frozen_end_) return f_.frozen_cut ? end_with(WalkEnd::kNotThawed) : end_of_virtual_thread();
    if (static_cast<size_t>(frozen_end_ - frozen_) < sizeof(part)) return end_with(WalkEnd::kNotThawed);
    std::memcpy(&part, frozen_, sizeof(part));
    frozen_ += sizeof(part);
    if (static_cast<size_t>(frozen_end_ - frozen_) < part.bytes) return end_with(WalkEnd::kNotThawed);
    piece_ = {part.begin, part.bytes, frozen_};
    piece_is_cut_ = part.cut;
    frozen_ += part.bytes;
    const Address sp = part.begin + 16;
    at_ = {word(sp - 8), sp, 0};
    at_.fp = frozen_fp(sp - 16);
    from_leaf_ = false;
    return true;
  }
  // Positions of interpreted frames are stored as distances in words, since chunks move.
  [[nodiscard]] Address distant(Address from, Address stored_at) {
    constexpr int64_t kFarthest = 1 << 20;
    const auto words = static_cast<int64_t>(word(stored_at));
    return words < -kFarthest || words > kFarthest ? 0 : from + static_cast<Address>(words * 8);
  }
  // The frame pointer of at_, kept in a slot.
  [[nodiscard]] Address frozen_fp(Address slot) {
    const CodeBlob* blob = w_.blobs_->at(at_.pc);
    return blob != nullptr && blob->kind == BlobKind::kInterpreter ? distant(slot, slot) : word(slot);
  }

  bool next_frozen() {
    const ReturnAddress* known = find_known();
    const CodeBlob* blob = known != nullptr ? known->blob : w_.blobs_->at(at_.pc);
    if (blob == nullptr) return end_with(WalkEnd::kNoCode);
    if (blob->kind == BlobKind::kInterpreter) return leave_frozen_interpreted();
    if (blob->frame_bytes <= 0) return end_with(WalkEnd::kNoSender);
    if (known != nullptr) {
      if (!add_known(*known)) return false;
    } else if (blob->is_method() && !add_compiled_caller(*blob)) {
      return false;
    }
    from_leaf_ = !blob->is_method();
    const Address frame_end = at_.sp + static_cast<Address>(blob->frame_bytes);
    // The outermost frame of a chunk ends with it, but for arguments that were passed to it.
    if (frame_end + 8 >= piece_.end()) return next_part();
    at_ = {word(frame_end - 8), frame_end, 0};
    at_.fp = frozen_fp(frame_end - 16);
    return true;
  }
  bool leave_frozen_interpreted() {
    const auto slots = w_.machine_->interpreter_slots();
    const Address fp = at_.fp;
    if (!holds(slot(fp, slots.bcp)) || !holds(fp)) {
      return end_with(piece_is_cut_ && beyond(fp) ? WalkEnd::kTooShort : WalkEnd::kNoMethod);
    }
    const MethodInfo* method = w_.methods_->at(word(slot(fp, slots.method)));
    if (method == nullptr) return end_with(WalkEnd::kNoMethod);
    add(FrameKind::kInterpreted, *method,
        method->is_native() ? -1 : method->bci_of(word(slot(fp, slots.bcp))).value_or(0));
    const Address locals = distant(fp, slot(fp, slots.locals));
    if (locals + 8 >= piece_.end()) return next_part();
    const Address sender = distant(fp, slot(fp, slots.sender_sp));
    if (sender <= fp || !holds(fp + 8)) return end_with(WalkEnd::kNoSender);
    at_ = {word(fp + 8), sender, 0};
    at_.fp = frozen_fp(fp);
    from_leaf_ = false;
    return true;
  }

  bool leave_entry_frame() {
    const Address wrapper_slot =
        at_.fp + static_cast<Address>(static_cast<int64_t>(w_.machine_->call_wrapper_offset()));
    if (beyond(wrapper_slot)) return end_with(WalkEnd::kTooShort);
    if (!holds(wrapper_slot)) return end_with(WalkEnd::kBadEntryFrame);
    const Address anchor = word(wrapper_slot) + w_.wrapper_anchor_;
    if (anchor < f_.sp) return end_with(WalkEnd::kBadEntryFrame);
    if (beyond(anchor + 16)) return end_with(WalkEnd::kTooShort);
    const Address sp = word(anchor + w_.anchor_sp_), pc = word(anchor + w_.anchor_pc_),
                  fp = word(anchor + w_.anchor_fp_);
    if (sp == 0) return end_with(WalkEnd::kComplete);
    if (sp <= at_.sp) return end_with(WalkEnd::kBadEntryFrame);
    if (!out_.frames.empty()) out_.frames.back().called_by_vm = true;
    return go_to_anchor(sp, pc, fp);
  }

  static Address slot(Address fp, int words) { return fp + static_cast<Address>(static_cast<int64_t>(words) * 8); }

  // `live_bcp`: from the register, of the innermost frame; the slot in the frame is written only at calls.
  bool add_interpreted(const MethodInfo& method, Address live_bcp) {
    const auto slots = w_.machine_->interpreter_slots();
    const Address fp = live_bcp != 0 ? f_.fp : at_.fp;
    int32_t bci = -1;
    if (!method.is_native()) {
      bci = method.bci_of(live_bcp).value_or(method.bci_of(word(slot(fp, slots.bcp))).value_or(0));
    }
    add(FrameKind::kInterpreted, method, bci);
    constexpr Address kLargest = 1 << 16;
    Address sender_sp = word(slot(fp, slots.sender_sp));
    if (sender_sp < fp + 16 || sender_sp > fp + kLargest) sender_sp = fp + 16;
    at_ = {word(fp + 8), sender_sp, word(fp)};
    from_leaf_ = false;
    return true;
  }

  bool add_compiled_caller(const CodeBlob& blob) {
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
    const size_t before = out_.frames.size();
    add_compiled(blob, exact ? pc : pc - 1, exact, false);
    if (exact && pc == at_.pc) remember(blob, before);
    return true;
  }

  // All methods that are inlined into each other at this pc.
  void add_compiled(const CodeBlob& blob, Address pc, bool exact, bool at_entry) {
    if (blob.kind == BlobKind::kNativeWrapper) return add(FrameKind::kNative, blob.method, -1, &blob);
    constexpr int32_t kHighestTier = 4;
    const FrameKind outermost = blob.level == kHighestTier ? FrameKind::kC2 : FrameKind::kC1;
    if (at_entry) return add(outermost, blob.method, 0, &blob);
    // Between two places that have debug information the next one holds.
    const PcDesc* desc = exact ? blob.at(pc) : blob.at_or_after(pc + 1);
    uint32_t offset = desc == nullptr ? 0 : static_cast<uint32_t>(std::max(desc->scope_offset, 0));
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
  }

  StackWalker& w_;
  const Fragment& f_;
  const size_t max_depth_;
  WalkedStack& out_;
  Piece piece_;
  bool is_frozen_ = false;     // piece_ is of the heap
  bool piece_is_cut_ = false;  // of a frozen one: it goes on behind its end
  const uint8_t* frozen_;      // the next FrozenPart
  const uint8_t* const frozen_end_;
  Position at_;
  bool thaws_ = false;      // the innermost frames may be missing
  bool from_leaf_ = false;  // at_.pc may be a return address without debug information
};

void StackWalker::walk(const Fragment& fragment, size_t max_depth, WalkedStack& out) {
  out.frames.clear();
  out.end = WalkEnd::kNoSender;
  out.start = WalkStart::kPlain;
  out.stopped_at = 0;
  out.highest = fragment.sp;
  out.is_virtual = false;
  blobs_->end_walk();  // nobody needs the last stack's any more
  Walk(*this, fragment, max_depth, out).run();
}

}  // namespace tarsier::hotspot
