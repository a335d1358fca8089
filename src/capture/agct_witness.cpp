#include "capture/agct_witness.h"

namespace tarsier::capture {

void AgctWitness::ask(void* env, uint32_t thread, uint64_t time_ns, void* ucontext) noexcept {
  Slot& slot = slots_[next_.fetch_add(1, std::memory_order_relaxed) % count_];
  uint64_t free = 0;
  // All are waiting to be read: then there is none of this sample.
  if (!slot.time_ns.compare_exchange_strong(free, kBusy, std::memory_order_acquire, std::memory_order_relaxed)) return;
  AgctTrace trace{env, 0, slot.frames};
  agct_(&trace, kDepth, ucontext);
  slot.thread = thread;
  slot.result = trace.frame_count;
  // A jmethodID points to where the JVM keeps the address of the method, as long as the class is there: it is now,
  // since the method is on the stack.
  for (int32_t i = 0; i < trace.frame_count && i < kDepth; ++i) {
    void*& method = slot.frames[i].method;
    if (method != nullptr) method = *static_cast<void**>(method);
  }
  slot.time_ns.store(time_ns, std::memory_order_release);
}

bool AgctWitness::find(uint32_t thread, uint64_t time_ns, Testimony& out) noexcept {
  // Samples are decoded in the order in which they were taken, nearly.
  for (size_t i = 0; i < count_; ++i) {
    const size_t at = (found_ + i) % count_;
    const Slot& slot = slots_[at];
    if (slot.time_ns.load(std::memory_order_acquire) != time_ns || slot.thread != thread) continue;
    found_ = at;
    out.result = slot.result;
    out.frames = {slot.frames, static_cast<size_t>(slot.result > 0 ? slot.result : 0)};
    return true;
  }
  return false;
}

void AgctWitness::forget() noexcept {
  slots_[found_].time_ns.store(0, std::memory_order_release);
}

}  // namespace tarsier::capture
