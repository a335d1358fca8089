// Sampling by AsyncGetCallTrace: the handler asks the JVM for the stack of the thread it interrupted and puts the
// answer, unresolved, into a ring.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "capture/signal_capture.h"
#include "capture/unwind_table.h"

namespace tarsier::capture {

// The interface of AsyncGetCallTrace, which no header of the JDK declares.
struct AgctFrame {
  int32_t bci;   // -3 in native methods
  void* method;  // jmethodID; null if the class was loaded before its ids were made
};
struct AgctTrace {
  void* env;  // JNIEnv* of the interrupted thread
  int32_t frame_count;
  AgctFrame* frames;
};
using AgctFunction = void (*)(AgctTrace*, int32_t depth, void* ucontext);

// One sample in the ring; kernel_count addresses and then frame_count frames follow it.
struct AgctRecord : SampleHeader {
  uint64_t pc;           // where the thread was interrupted, in user space
  int32_t result;        // AGCT's answer: a number of frames, or a negative cause
  uint32_t frame_count;  // > 0 although it failed: the frames of the caller
  bool truncated;

  [[nodiscard]] std::span<const uint64_t> kernel() const noexcept {
    return {reinterpret_cast<const uint64_t*>(this + 1), kernel_count};
  }
  [[nodiscard]] std::span<const AgctFrame> frames() const noexcept {
    return {reinterpret_cast<const AgctFrame*>(kernel().data() + kernel_count), frame_count};
  }
};
static_assert(sizeof(AgctRecord) % 8 == 0);

class AgctCapture final : public SignalCapture {
 public:
  struct Scratch {  // zeroed, owned by the caller
    uint8_t* memory;
    size_t count;
  };
  static size_t scratch_size(int32_t max_depth) noexcept;

  // `native`: of libraries whose functions Java code calls directly.
  AgctCapture(AgctFunction agct, Clock& clock, int32_t max_depth, const Memory& memory, const Scratch& scratch,
              std::span<const UnwindTable> native = {}) noexcept;

 private:
  void take(SampledThread& thread, const siginfo_t& info, void* ucontext, uint64_t now_ns) noexcept override;
  uint8_t* claim_scratch(uint32_t key) noexcept;
  // Walks from the Java caller of the interrupted code; the number of frames, 0 if that fails too.
  uint32_t walk_from_caller(AgctTrace& trace, void* ucontext) noexcept;

  const AgctFunction agct_;
  const int32_t max_depth_;
  const Scratch scratch_;
  const std::span<const UnwindTable> native_;
};

}  // namespace tarsier::capture
