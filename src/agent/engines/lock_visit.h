// The way from hooked functions, in any thread, to the capture of the session that records, if there is one.
#pragma once

#include <jvmti.h>

#include <atomic>
#include <cstdint>

#include "agent/engines/lock_capture.h"
#include "agent/engines/lock_seen.h"
#include "linux/thread_gate.h"

namespace tarsier::agent {

// For ever: threads that were parked when the last session ended come back here at any time.
struct LockDoor {
  std::atomic<LockCapture*> capture{nullptr};
  std::atomic<jvmtiEnv*> jvmti{nullptr};
  linux::ThreadGate gate;
};
extern LockDoor g_lock_door;

// In which functions of ours the thread is, and what they have seen.
struct LockDepth {
  uint32_t in_wait;
  bool visits;
  bool released;                      // since the unlocking was entered
  const LockCapture::Caller* unlock;  // where compiled code has called for the release; null: it has not
  linux::ThreadGate::Place* place;    // null: not asked for yet
  LockSeen seen;
};
extern constinit thread_local LockDepth t_lock_depth;

// Never one inside of another: the gate would take the thread for one that has left.
class LockVisit {
 public:
  // To find a thread's own variable takes a call: whoever has it gives it.
  explicit LockVisit(LockDepth& mine = t_lock_depth) : depth_(mine) {
    if (mine.place == nullptr) mine.place = &g_lock_door.gate.place_of(&mine);
    mine.visits = true;
    mine.place->enter();
    capture_ = g_lock_door.capture.load(std::memory_order_seq_cst);  // see ThreadGate
  }
  ~LockVisit() {
    depth_.place->leave();
    depth_.visits = false;
  }
  LockVisit(const LockVisit&) = delete;
  LockVisit& operator=(const LockVisit&) = delete;
  explicit operator bool() const { return capture_ != nullptr; }
  LockCapture* operator->() const { return capture_; }

 private:
  LockDepth& depth_;
  LockCapture* capture_;
};

// What the registers were where the function was called that this stands in. To be used in its outermost block.
#define TARSIER_LOCK_CALLER()                                                                                   \
  LockCapture::Caller {                                                                                         \
    reinterpret_cast<uint64_t>(__builtin_return_address(0)), reinterpret_cast<uint64_t>(__builtin_dwarf_cfa()), \
        *static_cast<const uint64_t*>(__builtin_frame_address(0))                                               \
  }

}  // namespace tarsier::agent
