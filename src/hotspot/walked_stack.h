// What a walk through a stack fragment has found.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/memory.h"
#include "hotspot/code_blob.h"
#include "hotspot/edge_check.h"
#include "hotspot/machine.h"
#include "hotspot/methods.h"

namespace tarsier::hotspot {

// kNative is a Java method, kLibrary a function of a library.
enum class FrameKind : uint8_t { kInterpreted, kC1, kC2, kInlined, kNative, kStub, kLibrary };
// In place of such an address: native frames that nobody could find out.
constexpr Address kUnknownNative = 0;

struct WalkedFrame {
  FrameKind kind = FrameKind::kStub;
  bool called_by_vm = false;          // the JVM stands between this frame and the next
  bool confirmed = false;             // the methods have been told that it was there in this epoch
  Edge call_of = Edge::kUncheckable;  // what the check of the call of this frame has said; written by who checks
  int32_t bci = -1;                   // -1: not known, or native
  Address method = 0;                 // Method*; of stubs the pc, of libraries an address in the function
  const MethodInfo* info = nullptr;   // of the method; null if it is gone
  const CodeBlob* blob = nullptr;     // null of interpreted frames; valid until the next walk

  // For whoever comes by the same frame again: what is written to `kept`, a copy that is used in later walks and is
  // there until the next, need not be found out another time.
  WalkedFrame* kept = nullptr;                 // null: there is none
  const MethodInfo* checked_callee = nullptr;  // of the call that this frame is in
  uint64_t label = 0;                          // as in MethodLabel
  int32_t line = -1;                           // -1: nobody has looked yet
  Edge checked_edge = Edge::kUncheckable;
};
static_assert(sizeof(WalkedFrame) == 64);

enum class WalkEnd : uint8_t {
  kComplete,       // reached the frame by which the thread entered Java for the first time
  kNoJavaFrame,    // complete, too: there is none
  kTooShort,       // the fragment ends before the stack does
  kNoSender,       // whoever called the interrupted code could not be found
  kNoCode,         // a return address leads to code that is not there (any more)
  kNoMethod,       // an interpreted frame without a method
  kBadEntryFrame,  // an entry frame without its wrapper
  kBadAnchor,
  kTooDeep,
  kNotThawed,  // frames of a virtual thread that lie in the heap are missing
  kThawing,    // interrupted while such frames were on their way back to the stack: the innermost may be missing
  kCount
};
std::string_view name_of(WalkEnd end);

// How the first Java frame was found.
enum class WalkStart : uint8_t {
  kPlain,
  kAnchor,
  kHalfBuilt,
  kAdapter,
  kStub,
  kNativeLeaf,
  kUnwound,
  kSignal,  // where a signal had come whose handler, of the JVM or of others, was running
  kCount
};
std::string_view name_of(WalkStart start);

// What a walk has read, frame by frame: where it was, and what it has found there.
struct WalkedWord {
  Address at;
  uint64_t value;
};
struct WalkStep {
  Position at;
  bool from_leaf = false;          // at.pc may be a return address without debug information
  bool by_fp = true;               // at.fp was needed
  bool is_entry = false;           // C code has called Java
  CodeIdentity code;               // of the frame's code
  uint32_t words = 0, frames = 0;  // how many were read and found
};

struct WalkedStack {
  std::vector<WalkedFrame> frames;  // innermost first; without those in `outer`
  WalkEnd end = WalkEnd::kNoSender;
  WalkStart start = WalkStart::kPlain;
  Address stopped_at = 0;  // pc where it ended, if it is not complete
  Address highest = 0;     // end of what was read of the stack
  size_t reused = 0;       // so many frames, the outermost, were known from the thread's last stack
  // Who asks for it gets those that were reused only from here: most of a stack, and most of the time nobody needs
  // them. Outermost first, until the thread's last stack is changed.
  bool leaves_out_reused = false;
  std::span<const WalkedFrame> outer;
  bool is_virtual = false;  // it is the stack of a virtual thread, and ends where its carrier entered it

  // For RememberedStack: all but what was reused.
  std::vector<WalkStep> steps;
  std::vector<WalkedWord> words;
  bool certain = true;            // all that was found follows from what was read of the stack
  std::optional<uint64_t> epoch;  // of the methods, if it holds for all of them
  uint64_t moment = 0;            // of the blobs

  void start_over(Address sp, std::optional<uint64_t> epoch_of_methods, uint64_t moment_of_blobs) {
    frames.clear();
    steps.clear();
    words.clear();
    end = WalkEnd::kNoSender;
    start = WalkStart::kPlain;
    stopped_at = 0;
    highest = sp;
    reused = 0;
    outer = {};
    is_virtual = false;
    certain = true;
    epoch = epoch_of_methods;
    moment = moment_of_blobs;
  }
  // Of all frames, the innermost first.
  [[nodiscard]] size_t size() const { return frames.size() + outer.size(); }
  [[nodiscard]] const WalkedFrame& at(size_t i) const { return i < frames.size() ? frames[i] : outer[size() - 1 - i]; }
  // How many were not reused.
  [[nodiscard]] size_t new_frames() const { return size() - reused; }
  [[nodiscard]] bool complete() const { return end == WalkEnd::kComplete || end == WalkEnd::kNoJavaFrame; }
};

}  // namespace tarsier::hotspot
