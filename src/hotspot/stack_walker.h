// From a fragment to the Java stack: through compiled frames with all that is inlined into them, interpreted frames,
// native wrappers, stubs, and the entry frames where the JVM has called Java.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
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
#include "hotspot/walked_stack.h"

namespace tarsier::hotspot {

class RememberedStack;

class StackWalker {
 public:
  // All must live as long as the walker.
  static Result<StackWalker> find(const Memory& memory, const VmStructs& structs, CodeBlobs& blobs, Methods& methods,
                                  const Machine& machine, int major, const NativeFrames* native = nullptr);

  // `remembered`: the last stack of the same thread, if it is kept; the caller shall let it keep() this one.
  void walk(const Fragment& fragment, size_t max_depth, WalkedStack& out, RememberedStack* remembered = nullptr);
  // Of the next stacks: the innermost frame is that of the method which releases a monitor, and this is the address of
  // the lock record, on the stack; kReleasedByCode: only the code tells; 0: they are any stacks.
  static constexpr Address kReleasedByCode = 1;
  void set_released(Address lock_record) { released_ = lock_record; }
  // Who can tell whether a bytecode calls a method. Compiled code of x86_64 pushes words in the midst of a method;
  // where that makes an old word look like a return address, its caller would not have called it.
  using CallCheck = std::function<Edge(const WalkedFrame& callee, const WalkedFrame& caller)>;
  void set_call_check(CallCheck check) { call_check_ = std::move(check); }
  // Native frames become part of the stacks.
  void show_native() { shows_native_ = true; }
  // Before methods are forgotten.
  void forget() {
    return_addresses_ = std::vector<ReturnAddress>(kReturnAddresses);
    bytecodes_ = std::vector<Bytecode>(kBytecodes);
  }

 private:
  class Walk;
  // The frames that a return address stands for. The same ones come up in stack after stack.
  struct alignas(64) ReturnAddress {
    Address pc = 0;
    const CodeBlob* blob = nullptr;
    uint64_t serial = 0;  // of the blob
    uint32_t epoch = 0;   // of the methods; the lower part
    uint32_t moment = 0;  // in which the blob was found to be there last; the lower part
    std::unique_ptr<WalkedFrame[]> frames;
    CodeIdentity code;
    int32_t frame_bytes = 0;
    uint16_t count = 0;  // of the frames

    [[nodiscard]] std::span<const WalkedFrame> all() const { return {frames.get(), count}; }
  };
  static_assert(sizeof(ReturnAddress) == 64);  // one line of the cache
  static constexpr int kLog2ReturnAddresses = 15;
  static constexpr size_t kReturnAddresses = size_t{1} << kLog2ReturnAddresses;
  // The same for a bytecode that an interpreted frame was left by.
  struct Bytecode {
    Address at = 0;
    uint64_t epoch = 0;  // of the methods
    uint64_t walk = 0;   // which has used it last
    WalkedFrame frame;
  };
  static constexpr int kLog2Bytecodes = 13;
  static constexpr size_t kBytecodes = size_t{1} << kLog2Bytecodes;

  StackWalker(const Memory& memory, CodeBlobs& blobs, Methods& methods, const Machine& machine, int major)
      : memory_(&memory),
        blobs_(&blobs),
        methods_(&methods),
        machine_(&machine),
        major_(major),
        return_addresses_(kReturnAddresses),
        bytecodes_(kBytecodes) {}

  // What the check says of the innermost frame's call; nothing: it was not asked.
  [[nodiscard]] std::optional<Edge> innermost_call(const WalkedStack& stack) const;
  // Behind how many words that were pushed the innermost frame's caller makes sense. False: behind none.
  bool walk_behind_pushed(const Fragment& fragment, size_t max_depth, WalkedStack& out, RememberedStack* remembered);

  const Memory* memory_;
  CodeBlobs* blobs_;
  Methods* methods_;
  const Machine* machine_;
  int major_;
  std::vector<ReturnAddress> return_addresses_;            // by a hash of the pc, in pairs
  std::vector<std::unique_ptr<WalkedFrame[]>> forgotten_;  // of them, in the present walk
  std::vector<Bytecode> bytecodes_;                        // by a hash of their address
  uint64_t walks_ = 0;
  Address call_stub_return_ = 0;
  const NativeFrames* native_ = nullptr;  // null: what is native can't be left
  bool shows_native_ = false;
  Address released_ = 0;
  CallCheck call_check_;
  Address pushed_ = 0;  // bytes below the innermost frame, which is compiled code
  uint64_t wrapper_anchor_ = 0;
  uint64_t anchor_sp_ = 0, anchor_pc_ = 0, anchor_fp_ = 0;
  Address continuation_entry_ = 0;        // Method* of the one that carriers enter virtual threads by; 0: not seen yet
  Address continuation_entry_bytes_ = 0;  // of its frame
};

}  // namespace tarsier::hotspot
