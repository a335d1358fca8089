// The light walk: what tells a thread's call chain from all others, by the thread itself and in a fraction of a
// microsecond. It names nothing and resolves no inlined methods: it goes from frame to frame by their sizes and makes a
// number of the return addresses (and, where code is interpreted, of the bytecodes). A number seen before is a chain
// seen before; of a new one the stack is copied, and decoded elsewhere.
//
// For threads that have called the JVM, not for signal handlers: what is met for the first time is looked up with
// memory of its own, from a part that was set aside.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/memory.h"
#include "base/result.h"
#include "hotspot/code_cache.h"
#include "hotspot/machine.h"
#include "hotspot/native_frames.h"
#include "hotspot/vm_structs.h"

namespace tarsier::hotspot {

class LightWalk {
  struct Piece;

 public:
  // `native` is asked by all threads at once, and must live as long.
  static Result<std::unique_ptr<LightWalk>> find(const VmStructs& structs, const NativeFrames& native, int major);

  // Where a thread is: an anchor, or where Java code has called a native function, or that function another one.
  struct Place {
    Position at;
    bool is_call = false;      // no anchor
    Address stack_base = 0;    // nothing above is read
    Address continuation = 0;  // where a virtual thread was entered: its frames end there; 0: it is none
    uint64_t epoch = 0;        // of class unloading: interpreted methods are known by addresses that others get
    uint64_t salt = 0;         // what else tells it from others
    bool operator==(const Place&) const = default;
  };
  struct Chain {
    uint64_t key = 0;  // 0: the walk did not come to an end, or met what it does not understand
    uint32_t frames = 0;
    bool ends_in_heap = false;  // the rest of a virtual thread's frames is frozen there
  };
  [[nodiscard]] Chain walk(const Place& place) noexcept { return walk(place, nullptr); }

  // What one walk has met, kept by the thread itself. A walk from the same place that would read the same words comes
  // to the same end: so these are compared, which takes no search and can be done all at once.
  struct Trail {
    static constexpr uint32_t kMost = 20;
    struct Step {
      const Piece* piece;
      Address returns_at;  // where its return address lies: that of the next step
      // Where the caller's frame pointer lies, and what it was. 0: it does not matter; compiled code uses the register
      // for anything, and its frames are found without.
      Address saved_at, saved;
    };
    // Of a step whose frame is the interpreter's: also what it holds besides.
    static constexpr uint32_t kMostInterpreted = 8;
    struct Interpreted {
      Address fp, method, bcp, sender;
    };
    Place from{};
    Chain chain{};
    uint32_t interpreted = 0;
    uint32_t steps = 0;                   // 0: there is nothing
    bool needs_fp = false;                // that of `from` matters
    Address entry_slot = 0, wrapper = 0;  // of the frame by which Java was entered
    uint64_t user = 0;                    // the caller's, of this chain; 0 when the trail is new
    std::array<Step, kMost> met{};
    std::array<Interpreted, kMostInterpreted> by_interpreter{};
  };
  // Of some chains of a thread. Zeroed memory is an empty one.
  struct Trails {
    static constexpr size_t kMost = 4;
    // Where each begins, all in one line of the cache.
    std::array<Address, kMost> sp{}, pc{};
    std::array<Trail, kMost> trails{};
    size_t next = 0;    // to be replaced
    uint32_t held = 0;  // the caller's: how often one did
  };
  // Null: none of them holds.
  [[nodiscard]] Trail* known(const Place& place, Trails& trails) const noexcept;
  // Walks, and keeps what it meets, in the place of the oldest, if that can be compared: then `kept` is not null. If
  // not, that place is empty.
  struct Kept {
    Chain chain;
    Trail* kept;
  };
  [[nodiscard]] Kept walk_and_keep(const Place& place, Trails& trails) noexcept;

  // An address that is returned to.
  struct ReturnSite {
    bool is_code;    // of Java, or what the JVM has generated
    Address popped;  // bytes that the code there pops: they were pushed around the call
  };
  [[nodiscard]] ReturnSite site(Address pc) noexcept {
    const Piece* piece = at(pc);
    if (piece == nullptr) return {cache_->blob_at(pc).has_value(), 0};
    return {piece->is_code, static_cast<Address>(piece->popped)};
  }

 private:
  enum class Kind : uint8_t { kFrame, kInterpreted, kEntry, kFrozen, kNative, kUnknown };
  // What lies at an address that is returned to. Never changed once it is in the table.
  struct Piece {
    Address pc = 0;
    Kind kind = Kind::kUnknown;
    bool is_code = false;
    int32_t frame_bytes = 0;
    int32_t popped = 0;    // by the code there, of what was pushed around a call of a native function
    Address identity = 0;  // where code has its number; 0: nothing else can take its place
    int32_t compile_id = 0;
    UnwindRule rule{};
  };
  static constexpr int kLog2Known = 13;
  static constexpr size_t kMaxPieces = size_t{1} << 15;

  LightWalk(const NativeFrames& native, int major) : native_(native), major_(major) {}
  Status find_layout(const VmStructs& structs);
  const Piece* at(Address pc) noexcept;
  [[nodiscard]] Chain walk(const Place& place, Trail* trail) noexcept;
  [[nodiscard]] bool holds(const Trail& trail, const Place& place) const noexcept;
  // Code on the thread's own stack stays; but since the piece was made other code may have come to that place.
  static bool is_still(const Piece& piece) noexcept {
    return piece.identity == 0 || *reinterpret_cast<const volatile int32_t*>(piece.identity) == piece.compile_id;
  }
  [[nodiscard]] bool is_interpreter(Address pc) const noexcept {
    return pc >= cache_->interpreter().first && pc < cache_->interpreter().second;
  }
  [[nodiscard]] Piece look_at(Address pc) const noexcept;
  [[nodiscard]] Piece native_piece(Address pc) const noexcept;

  class Direct final : public Memory {  // only what is known to be there is asked for
   public:
    bool copy(void* out, Address from, size_t size) const noexcept override;
  };

  const NativeFrames& native_;
  const int major_;
  Direct memory_;
  std::optional<CodeCache> cache_;
  Machine::InterpreterSlots slots_{};
  uint64_t frame_size_ = 0, compile_id_ = 0;
  Address call_stub_return_ = 0;
  uint64_t wrapper_anchor_ = 0, anchor_sp_ = 0, anchor_pc_ = 0, anchor_fp_ = 0;
  std::array<std::atomic<const Piece*>, size_t{1} << kLog2Known> known_{};
  std::unique_ptr<Piece[]> pieces_{new Piece[kMaxPieces]};
  std::atomic<uint32_t> used_{0};
};

}  // namespace tarsier::hotspot
