// From a fragment to the Java stack: through compiled frames with all that is inlined into them, interpreted frames,
// native wrappers, stubs, and the entry frames where the JVM has called Java.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/memory.h"
#include "base/result.h"
#include "hotspot/code_blob.h"
#include "hotspot/edge_check.h"
#include "hotspot/machine.h"
#include "hotspot/methods.h"
#include "hotspot/native_frames.h"
#include "hotspot/sigsafe/fragment.h"
#include "hotspot/vm_structs.h"

namespace tarsier::hotspot {

enum class FrameKind : uint8_t { kInterpreted, kC1, kC2, kInlined, kNative, kStub };

// What a check of a call has said, for whoever checks it again.
struct CheckedCall {
  const MethodInfo* callee = nullptr;
  const MethodInfo* caller = nullptr;
  int32_t bci = -1;
  Edge edge = Edge::kUncheckable;
};

struct WalkedFrame {
  FrameKind kind = FrameKind::kStub;
  bool called_by_vm = false;         // the JVM stands between this frame and the next
  int32_t bci = -1;                  // -1: not known, or native
  Address method = 0;                // Method*; 0 of stubs
  const MethodInfo* info = nullptr;  // of the method; null if it is gone
  const CodeBlob* blob = nullptr;    // null of interpreted frames; valid until the next walk
  CheckedCall* checked = nullptr;    // a place for the check of the call that this frame is in; may hold another's
};

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
enum class WalkStart : uint8_t { kPlain, kAnchor, kHalfBuilt, kAdapter, kStub, kNativeLeaf, kCount };
std::string_view name_of(WalkStart start);

struct WalkedStack {
  std::vector<WalkedFrame> frames;  // innermost first
  WalkEnd end = WalkEnd::kNoSender;
  WalkStart start = WalkStart::kPlain;
  Address stopped_at = 0;   // pc where it ended, if it is not complete
  Address highest = 0;      // end of what was read of the stack
  bool is_virtual = false;  // it is the stack of a virtual thread, and ends where its carrier entered it

  [[nodiscard]] bool complete() const { return end == WalkEnd::kComplete || end == WalkEnd::kNoJavaFrame; }
};

class StackWalker {
 public:
  // All must live as long as the walker.
  static Result<StackWalker> find(const Memory& memory, const VmStructs& structs, CodeBlobs& blobs, Methods& methods,
                                  const Machine& machine, int major, const NativeFrames* native = nullptr);

  void walk(const Fragment& fragment, size_t max_depth, WalkedStack& out);
  // Before methods are forgotten.
  void forget() { return_addresses_.assign(kReturnAddresses, {}); }

 private:
  class Walk;
  // The frames that a return address stands for. The same ones come up in stack after stack.
  struct ReturnAddress {
    Address pc = 0;
    uint64_t era = 0;    // of the blobs
    uint64_t epoch = 0;  // of the methods
    const CodeBlob* blob = nullptr;
    std::vector<WalkedFrame> frames;
    std::array<CheckedCall, 4> checked;  // for the first of them
  };
  static constexpr size_t kReturnAddresses = 1 << 13;

  StackWalker(const Memory& memory, CodeBlobs& blobs, Methods& methods, const Machine& machine, int major)
      : memory_(&memory),
        blobs_(&blobs),
        methods_(&methods),
        machine_(&machine),
        major_(major),
        return_addresses_(kReturnAddresses) {}

  const Memory* memory_;
  CodeBlobs* blobs_;
  Methods* methods_;
  const Machine* machine_;
  int major_;
  std::vector<ReturnAddress> return_addresses_;  // by a hash of the pc
  Address call_stub_return_ = 0;
  const NativeFrames* native_ = nullptr;  // null: what is native can't be left
  uint64_t wrapper_anchor_ = 0;
  uint64_t anchor_sp_ = 0, anchor_pc_ = 0, anchor_fp_ = 0;
  Address continuation_entry_ = 0;  // Method* of the one that carriers enter virtual threads by; 0: not seen yet
};

}  // namespace tarsier::hotspot
