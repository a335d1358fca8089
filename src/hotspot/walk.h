// One walk through a fragment; private to the stack walker. Its parts: the innermost frame (walk_innermost.cpp), the
// others (walk_frames.cpp), native ones (walk_native.cpp), those of a virtual thread that lie in the heap
// (walk_frozen.cpp), and what is known from the thread's last stack (walk_remembered.cpp).
#pragma once

#include <algorithm>
#include <cstring>

#include "hotspot/remembered_stack.h"
#include "hotspot/stack_walker.h"

namespace tarsier::hotspot {

// One walk. Positions are only ever taken from the fragment, whose memory does not change; code and methods are looked
// up as they are now.
class StackWalker::Walk {
 public:
  // `remembered`: the thread's last stack, or null. What is wrong of it is thrown away.
  Walk(StackWalker& walker, const Fragment& fragment, size_t max_depth, RememberedStack* remembered, WalkedStack& out)
      : Walk(walker, fragment, fragment, max_depth, remembered, out) {}
  // `registers`: of an earlier moment, for which the fragment's stack still holds.
  Walk(StackWalker& walker, const Fragment& registers, const Fragment& fragment, size_t max_depth,
       RememberedStack* remembered, WalkedStack& out)
      : w_(walker),
        f_(registers),
        max_depth_(max_depth),
        remembered_(remembered),
        out_(out),
        piece_{fragment.sp, fragment.stack_bytes, fragment.stack()},
        frozen_(fragment.frozen()),
        frozen_end_(fragment.frozen() + fragment.frozen_bytes) {}

  void run();
  // The walk has ended in a signal handler: the registers of when the signal came.
  [[nodiscard]] std::optional<Fragment> interrupted_by_signal() const;

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
    const uint64_t value = peek(at);
    if (in_step_) out_.words.push_back({at, value});
    return value;
  }
  // 0 outside, whatever was checked before.
  [[nodiscard]] uint64_t peek(Address at) const {
    uint64_t value = 0;
    if (!within(at)) return value;
    std::memcpy(&value, piece_.data + (at - piece_.begin), sizeof(value));
    return value;
  }

  void stop(WalkEnd end) {
    ended_ = true;
    out_.end = end;
    out_.stopped_at = at_.pc;
  }
  bool end_with(WalkEnd end) {
    stop(end);
    return false;
  }
  void add(FrameKind kind, Address method, int32_t bci, const CodeBlob* blob) {
    const MethodInfo* info = method != 0 ? w_.methods_->at(method) : nullptr;
    out_.frames.push_back({.kind = kind, .bci = bci, .method = method, .info = info, .blob = blob});
  }
  void add_stub(Address pc, const CodeBlob& blob) {
    out_.frames.push_back({.kind = FrameKind::kStub, .method = pc, .blob = &blob});
  }
  void add(FrameKind kind, const MethodInfo& method, int32_t bci) {
    out_.frames.push_back({.kind = kind, .bci = bci, .method = method.method, .info = &method});
  }

  // --- is this a return address? ---
  [[nodiscard]] bool follows_call(Address pc) const;
  // Strictly: one at which a JVM could stop. Otherwise also one behind a call of a leaf, which needs no debug info.
  [[nodiscard]] bool may_return_to(Address pc, bool strictly) const;
  // Could this be the caller's frame? Its own return address must be one, too, and so on for some levels.
  [[nodiscard]] bool plausible(const Position& caller, bool strictly = false, int levels = 2) const;
  // The same for the caller of a frame that ends there.
  [[nodiscard]] bool plausible_behind(Address end, bool of_method, int levels) const;

  // --- the innermost frame ---
  // These are false if they have ended the walk, or (with ended_ still false) if they do not know.
  bool find_first();
  // Nobody has told whether the thread has left Java code, and where.
  [[nodiscard]] bool without_anchor() const { return f_.thread_state == kThreadStateUnknown; }
  bool go_to_anchor(Address sp, Address pc, Address fp);
  [[nodiscard]] bool in_stub_with_frame() const;
  [[nodiscard]] Position unsaved_return() const;
  bool leave_compiled(const CodeBlob& blob);
  // Whoever has called a method whose frame ends there, if it has pushed a few words below it.
  [[nodiscard]] std::optional<Position> caller_behind_pushed(Address frame_end);
  [[nodiscard]] static Address complete_from(const CodeBlob& blob);
  bool leave_interpreter();
  [[nodiscard]] std::optional<Position> caller_at_entry();
  // Its method's frame is gone, and its return address in a register.
  bool leave_interpreter_by_jump();
  bool leave_adapter(const CodeBlob& blob);

  // Stubs keep frames as they like: try the ways in which it is done, and believe the first that leads somewhere.
  bool leave_stub(const CodeBlob& blob);
  // The JVM's own code uses some stubs, and enters Java by one: then native frames come first.
  bool leave_stub_of_native();
  [[nodiscard]] std::optional<Position> native_caller_of_stub();
  // The instructions of the interrupted stub up to pc, and one more.
  class StubCode;
  // By its own instructions from `stub` on, where the processor's code can be followed. `general`: the registers, if it
  // was interrupted there; null if it has called C code from there.
  bool follow_stub(const CodeBlob& blob, const Position& stub, const uint64_t* general);
  // Do the instructions of this stub pass on where their caller's frame ends?
  [[nodiscard]] static bool passes_sp(const CodeBlob& blob);
  // By the size of its frame, if it has one.
  bool try_frame(const CodeBlob& blob, const Position& stub);
  // By the frame record that fp leads to.
  bool try_record(const Position& stub);
  // By anything on the stack that looks like a return address, and the frame behind it as well.
  bool try_words(const Position& stub);
  static constexpr Address kNear = 512;
  bool try_caller(const Position& caller);
  bool go_to(const Position& position);
  [[nodiscard]] Address popped_after(const CodeBlob& blob, Address pc) const;

  // In C++ code that Java has called without telling the JVM.
  bool leave_native_leaf();
  // `depth` > 0: at_.pc is a return address.
  bool leave_native(int depth);
  // Nothing describes the interrupted code, as in the jumps from one library to the next: they have no frame.
  [[nodiscard]] std::optional<Position> return_from_leaf() const;

  // --- native frames (walk_native.cpp) ---
  enum class NativeStep : uint8_t {
    kCaller,     // `at` is now the caller
    kOutermost,  // nobody has called it: the thread began here
    kTooShort,   // the fragment ends before its frame does
    kUnknown,    // nothing tells how it is left
  };
  static constexpr int kMaxNative = 256;
  // `interrupted`: at.pc is no return address.
  NativeStep leave_native_frame(Position& at, bool interrupted);
  // Interrupted in code that no table describes: as certain as the code itself tells.
  [[nodiscard]] std::optional<Position> leave_undescribed();
  // Adds a native frame, if they are wanted.
  void show_native(Address pc, bool interrupted);
  // Those from `at` up to where the thread has left Java by `anchor` (sp 0: up to where it began), if they are wanted.
  void show_native_part(Position at, bool interrupted, const JavaFrameAnchor& anchor);
  // at_ is a stub by which C code has called Java; the Java code that had called the C code was left by `anchor`.
  void show_native_gap(const JavaFrameAnchor& anchor);
  [[nodiscard]] static bool is_where_java_was_left(const Position& at, const CodeBlob& blob,
                                                   const JavaFrameAnchor& anchor);

  // An upcall stub that nobody says to have noted its caller: through its frame record, as if it were native code.
  bool leave_upcall_stub_by_record();
  // at_ is what has called: Java code, or a stub.
  bool find_java_caller();

  // --- the other frames ---
  bool next();
  // By its size.
  bool leave_frame(int32_t frame_bytes, bool of_method);

  // --- the thread's last stack ---
  bool next_step();
  void note_identity(const CodeIdentity& code);
  bool take_remembered();
  [[nodiscard]] size_t same_words(std::span<const WalkedWord> words) const;
  [[nodiscard]] bool has_its_code(const WalkStep& step) const;

  // --- return addresses that were seen before ---
  // The first of the two places that it may have.
  [[nodiscard]] ReturnAddress& place_of(Address pc) const;
  // The one where it is, or else the one that was of use longer ago.
  [[nodiscard]] ReturnAddress& slot_of(Address pc) const;
  [[nodiscard]] const ReturnAddress* find_known(Address pc) const;
  bool add_known(const ReturnAddress& known);
  // What has been added since there were `before` frames.
  void remember(const CodeBlob& blob, Address pc, size_t before);
  // The same for interpreted frames, by their bytecode.
  [[nodiscard]] Bytecode& slot_of_bytecode(Address bytecode) const;
  [[nodiscard]] const WalkedFrame* find_interpreted(Address method, Address bytecode) const;
  // The frame that was added last.
  void remember_interpreted(Address bytecode);

  // --- virtual threads ---
  [[nodiscard]] bool is_continuation_entry(const CodeBlob& blob);
  bool end_of_virtual_thread();
  // All frames of the virtual thread are in the heap, and sp is already that of the frame by which it was entered.
  bool leave_continuation_entry();
  // Interrupted while the stub at at_ moves frames: notes for how many words of frames it has made room.
  void measure_thaw();
  // Behind the call that has moved all of them, in the stub itself: they are on the stack, and fill the room.
  bool go_to_thawed();
  // `sp`: where the frames of the piece begin of which the JVM says that they are there. Where those begin that it had
  // made room for; nothing if that can't be told.
  [[nodiscard]] std::optional<Address> find_thawing(Address sp) const;
  // A frame in the piece: link and pc lie below sp, the frame begins at `start`.
  struct FrozenFrame {
    Address sp, start;
  };
  enum class FrozenKind : uint8_t { kNone, kCompiled, kInterpreted };
  // Makes `frame` its caller; the piece's end if that is somewhere else.
  [[nodiscard]] FrozenKind leave_frozen(FrozenFrame& frame) const;
  [[nodiscard]] FrozenFrame innermost_frozen(Address sp) const;
  [[nodiscard]] bool leads_to(Address from, Address to) const;
  // By how much the JVM would have made room for more than the frames from sp on; nothing if for less, or much more.
  [[nodiscard]] bool fits_room(Address sp) const;
  // Is it the frame that threads wait in?
  [[nodiscard]] bool is_yielding(Address sp) const;
  // Frames are returned to that lie in the heap.
  bool return_to_frozen();
  bool next_part();
  // Frames that the stack has given are in the heap already, and shall come from there.
  void drop_frozen_twice(Address innermost);
  // The thread is about to wait: its innermost frame is the native method for it.
  [[nodiscard]] bool yields() const;
  [[nodiscard]] static bool is_yield(const MethodInfo* method);
  // Positions of interpreted frames are stored as distances in words, since chunks move.
  [[nodiscard]] static Address distant(Address from, uint64_t stored);
  // The frame pointer of at_, kept in a slot.
  [[nodiscard]] Address frozen_fp(Address slot);
  bool next_frozen();
  bool leave_frozen_frame(int32_t frame_bytes, bool of_method);
  bool leave_frozen_interpreted();
  bool leave_entry_frame();
  // C code has called Java by a function pointer.
  bool leave_upcall_stub(const CodeBlob& blob);
  // To whoever had called the C code that has called Java: the frame's anchor tells.
  bool leave_by_anchor(Address anchor);

  static Address slot(Address fp, int words) { return fp + static_cast<Address>(static_cast<int64_t>(words) * 8); }

  // `live_bcp`: from the register, of the innermost frame; the slot in the frame is written only at calls.
  bool add_interpreted(const MethodInfo& method, Address live_bcp);
  bool leave_interpreted(Address fp);
  // Where the caller's frame ends, by what an interpreted frame says; its expressions may overlap with the arguments.
  [[nodiscard]] static Address sender_sp(Address fp, Address stored);
  // The class of its method may be gone by now; that it was here is told by where its caller is.
  bool leave_unloaded();
  bool add_compiled_caller(const CodeBlob& blob);

  // All methods that are inlined into each other at this pc.
  // `sp`: of its frame.
  void add_compiled(const CodeBlob& blob, Address pc, Address sp, bool exact, bool at_entry);
  // Where code goes on in line that lies behind it; the code's end if that can't be told.
  [[nodiscard]] Address goes_on_at(const CodeBlob& blob, Address pc, Address sp) const;
  // The scope of the inlined method that releases a monitor, if this frame does that at all. 0: it does, but which of
  // its methods can't be told.
  [[nodiscard]] std::optional<uint32_t> releasing_scope(const CodeBlob& blob, Address return_address, Address sp) const;
  // The method of that scope.
  [[nodiscard]] bool is_synchronized(const CodeBlob& blob, uint32_t scope) const;
  // The same if only the code tells which slot it is; some code is described wrongly (lock_scope.h).
  [[nodiscard]] std::optional<uint32_t> releasing_scope_by_code(const CodeBlob& blob, Address return_address) const;
  // The same by where the monitor was entered: the last such place before `near` with this slot.
  [[nodiscard]] uint32_t entering_scope(const CodeBlob& blob, int64_t slot, Address near) const;
  // Where code that was put out of line goes on.
  [[nodiscard]] Address back_in_line(const CodeBlob& blob, Address pc) const;

  // Does a signal handler return there?
  [[nodiscard]] bool is_signal_return(Address pc) const;

  StackWalker& w_;
  const Fragment& f_;
  const size_t max_depth_;
  RememberedStack* const remembered_;
  WalkedStack& out_;
  Piece piece_;
  bool ended_ = false;
  bool in_step_ = false;       // what is read belongs to the last of out_.steps
  bool is_frozen_ = false;     // piece_ is of the heap
  Address signal_frame_ = 0;   // sp where a signal handler returns to, if the walk has ended there
  bool piece_is_cut_ = false;  // of a frozen one: it goes on behind its end
  const uint8_t* frozen_;      // the next FrozenPart
  const uint8_t* const frozen_end_;
  Position at_;
  bool thaws_ = false;      // the innermost frames may be missing
  int64_t thaw_words_ = 0;  // of frames that room was made for; 0: not known
  bool thaw_is_return_ = false;
  bool any_frozen_ = false;  // frames were found in the heap
  bool from_leaf_ = false;   // at_.pc may be a return address without debug information
};

}  // namespace tarsier::hotspot
