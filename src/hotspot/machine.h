// What differs between processors in the frames of HotSpot. Both are always compiled in: a fragment taken on one
// machine can be decoded on the other.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/memory.h"
#include "hotspot/code_blob.h"
#include "hotspot/sigsafe/fragment.h"

namespace tarsier::hotspot {

// Where a frame is: the pc in it, its sp, and what the frame pointer register holds (of use to interpreted frames
// only).
struct Position {
  Address pc = 0, sp = 0, fp = 0;
  bool operator==(const Position&) const = default;
};

// How far the frame of the interrupted compiled method was built, or taken down again.
enum class FrameState : uint8_t {
  kComplete,
  kNothing,    // the return address is where the call has put it
  kSavedPair,  // the frame pointer and the return address lie at sp, nothing else does
  kAllocated,  // sp is lowered, but the return address is still in its register
  kLowered,    // sp is lowered, but the frame pointer is not saved yet
};

// What is known while code that has been interrupted, or has called something, is followed: registers, in the order of
// Fragment::general, and the stack.
struct Followed {
  Position at;
  const uint64_t* general = nullptr;  // null: only what a C function leaves alone of `at` is known
  Address stack = 0;                  // where the bytes of the stack begin
  std::span<const uint8_t> bytes;
  Address code_begin = 0;  // where the code begins that is known; 0: at `at`
};

// Where the kernel puts the registers of whom a signal interrupts: in bytes from the stack pointer that the code has to
// which signal handlers return.
struct SignalFrame {
  std::array<uint16_t, kGeneralRegisters> general;  // in the order of Fragment::general; 0: there is none
  uint16_t pc, sp, fp;
};

class Machine {
 public:
  virtual ~Machine() = default;
  static const Machine& aarch64();
  static const Machine& x86_64();
  static const Machine& host();
  static const Machine* find(std::string_view name);  // null: we know none of that name

  [[nodiscard]] virtual std::string_view name() const = 0;

  // Words of an interpreted frame, from fp. The saved fp is at 0, the return address at 1.
  struct InterpreterSlots {
    int sender_sp, method, locals, bcp;
  };
  [[nodiscard]] InterpreterSlots interpreter_slots(int major) const {
    // Since 9 the mirror of the method's class lies in between.
    constexpr int kFirstWithMirror = 9;
    return major < kFirstWithMirror ? InterpreterSlots{-1, -3, -6, -7} : slots_with_mirror();
  }
  // Bytes from fp of a call stub's frame to its JavaCallWrapper*.
  [[nodiscard]] virtual int call_wrapper_offset() const = 0;

  // `code`: the instructions of `blob` around pc, `at` the index of pc in it.
  [[nodiscard]] virtual FrameState frame_state(const CodeBlob& blob, Address pc, std::span<const uint8_t> code,
                                               size_t at) const = 0;
  // Of a stub without a frame of its own: the bytes that it has pushed, judged by its instructions up to pc; nothing if
  // it has saved its return address. `several`: the code has several entries, each after the other's jump.
  [[nodiscard]] virtual std::optional<int64_t> pushed_by_stub(std::span<const uint8_t> code_before_pc,
                                                              bool several) const = 0;
  // Follows code from pc on, until it returns or jumps out of these bytes: where it returns to, or whoever it leaves
  // that to. Nothing if that can't be told, as always on processors with a link register.
  struct WayOut {
    Position caller;
    bool jumps = false;
    Address jumps_to = 0;            // 0: where a register or memory says
    Address register_jumped_to = 0;  // what the register says, if it is one and that is known
    Address passed_sp = 0;           // what it passes on as the caller's sp, if it does so; 0: not known
  };
  [[nodiscard]] virtual bool follows_code() const = 0;
  [[nodiscard]] virtual std::optional<WayOut> way_out(std::span<const uint8_t> code_from_pc,
                                                      const Followed& from) const = 0;
  // Has this code, which lies behind a method's, been called by the method in the place of another method? Then it has
  // no frame, though the method has.
  [[nodiscard]] virtual bool is_call_stub(std::span<const uint8_t> code, size_t at) const = 0;
  // Where an exception was thrown, as the stub is told that looks for who catches it; 0: it begins with its return
  // address where others have theirs.
  [[nodiscard]] virtual Address thrown_at(const Fragment& fragment) const = 0;
  // Bytes that the code behind a call pops before it goes its ways: they were pushed around the call.
  [[nodiscard]] virtual int64_t popped_after_call(std::span<const uint8_t> code_from_pc) const = 0;
  [[nodiscard]] virtual Address stack_alignment() const = 0;
  // How the stub that moves frames of a virtual thread to the stack calls the JVM for it.
  struct ThawCall {
    bool is_return;  // to a frame that was left in the heap; otherwise the thread goes on after a wait
    int64_t pushed;  // bytes that it has pushed since it has made room for the frames
  };
  // `code_before`: the instructions before the call's return address. Nothing if they do not tell.
  [[nodiscard]] virtual std::optional<ThawCall> thaw_call(std::span<const uint8_t> code_before) const = 0;
  // The next call, if nothing but a few instructions comes before it: bytes to its return address, and by how many
  // bytes sp is raised until then (negative: lowered).
  struct CallAhead {
    Address size;
    int64_t raised;
  };
  [[nodiscard]] virtual std::optional<CallAhead> call_ahead(std::span<const uint8_t> code_from_pc,
                                                            Address sp) const = 0;
  // The offset of the thread's field that this code puts into sp; nothing if it does not, or puts several there.
  [[nodiscard]] virtual std::optional<uint64_t> field_put_into_sp(std::span<const uint8_t> code) const = 0;
  // How far from the code in front of it such a call of that stub may be.
  [[nodiscard]] virtual Address bytes_to_thaw_call() const = 0;
  // Bytes from here to where the next unconditional jump leads, if nothing but a few instructions comes before it.
  [[nodiscard]] virtual std::optional<int64_t> next_jump(std::span<const uint8_t> code_from_pc) const = 0;
  // Where the code is reached from that runs straight on to a call, whose return address is an index into `code`: where
  // it begins, or, if it was put out of line, the branch that leads to it.
  [[nodiscard]] virtual size_t reached_from(std::span<const uint8_t> code, size_t return_address) const = 0;
  // What the call before a return address calls, directly or by a piece of code that jumps on.
  [[nodiscard]] virtual std::optional<Address> call_target(const Memory& memory, Address return_address) const = 0;
  // The slot of the frame whose address is passed to a call, in bytes from sp, judged by the code up to its return
  // address.
  [[nodiscard]] virtual std::optional<int64_t> passed_slot(std::span<const uint8_t> code_up_to_return) const = 0;
  // Is this the code by which a signal handler's caller asks the kernel to go on where the signal came, or just behind?
  [[nodiscard]] virtual bool returns_from_signal(std::span<const uint8_t> code, size_t at) const = 0;
  [[nodiscard]] virtual SignalFrame signal_frame() const = 0;
  // The frame pointer and the return address have just been pushed, and the frame pointer is not set yet.
  [[nodiscard]] virtual bool just_saved_pair(std::span<const uint8_t> code, size_t at) const = 0;
  // Is this code of the kind that linkers make, which only jumps on to another function? It has no frame.
  [[nodiscard]] virtual bool jumps_on(std::span<const uint8_t> code_from_pc) const = 0;
  // Of a function with a frame record at sp: the bytes of its frame, by the instruction before pc that has pushed the
  // record. Nothing where that does not tell.
  [[nodiscard]] virtual std::optional<int64_t> frame_with_record(std::span<const uint8_t> code_before_pc) const = 0;
  // Is the instruction before this return address a call? `before`: the 8 bytes before it.
  [[nodiscard]] virtual bool follows_call(std::span<const uint8_t, 8> before) const = 0;

  // The return address that the interrupted code may have got by its call and not yet saved, and sp as it is then:
  // the link register, or the word at sp. `word_at_sp`: 0 if it was not copied.
  [[nodiscard]] virtual Position unsaved_return(const Fragment& fragment, uint64_t word_at_sp) const = 0;
  // While the interpreter makes room for a method's locals: the return address, in a register. 0: it is nowhere else.
  [[nodiscard]] virtual Address popped_return(const Fragment& fragment) const = 0;
  // The Method* that a method's entry, adapters and the interpreter are given, its bytecode pointer while it runs, and
  // sp of the caller as an adapter passes it.
  [[nodiscard]] virtual Address entry_method(const Fragment& fragment) const = 0;
  [[nodiscard]] virtual Address bytecode_pointer(const Fragment& fragment) const = 0;
  [[nodiscard]] virtual Address sender_sp(const Fragment& fragment, int major) const = 0;

 protected:
  [[nodiscard]] virtual InterpreterSlots slots_with_mirror() const = 0;
};

}  // namespace tarsier::hotspot
