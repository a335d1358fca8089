#include "capture/agct.h"

#include <ucontext.h>

#include <atomic>
#include <cstring>

#include "capture/registers.h"

namespace tarsier::capture {
namespace {

// With a wrong sp the walk finds the leaf's saved return address and takes the caller for its own caller: the same
// frames, at the same bytecodes, twice. No real recursion looks like that, since it calls itself and the leaf from
// different places.
bool starts_twice(const AgctTrace& trace) noexcept {
  constexpr int32_t kMaxInlined = 8;
  for (int32_t n = 1; n <= kMaxInlined && 2 * n <= trace.frame_count; ++n) {
    bool same = true;
    for (int32_t i = 0; i < n && same; ++i) {
      same = trace.frames[i].method == trace.frames[n + i].method && trace.frames[i].bci == trace.frames[n + i].bci;
    }
    if (same) return true;
  }
  return false;
}

// Up to JDK 11 on aarch64 (read in aarch64.ad, and seen) C2 pushes zero and the return address before it calls a C++
// function: the Java frame begins above that.
void skip_breadcrumb([[maybe_unused]] Registers& java) noexcept {
#if defined(__aarch64__)
  const auto* pushed = reinterpret_cast<const uint64_t*>(java.sp);
  if (pushed[0] == 0 && pushed[1] == java.pc) java.sp += 2 * sizeof(uint64_t);
#endif
}

// A buffer that a handler borrows while AsyncGetCallTrace fills it: too large for the 8 KB of stack that we allow
// ourselves, too seldom used to have one per thread.
struct Buffer {
  std::atomic<uint32_t> busy;
  uint32_t padding;
  uint64_t kernel[kMaxKernelFrames];
  AgctFrame frames[1];  // max_depth of them
};

}  // namespace

size_t AgctCapture::scratch_size(int32_t max_depth) noexcept {
  const size_t size = sizeof(Buffer) + static_cast<size_t>(max_depth) * sizeof(AgctFrame);
  return (size + 63) & ~size_t{63};
}

AgctCapture::AgctCapture(AgctFunction agct, Clock& clock, int32_t max_depth, const Memory& memory,
                         const Scratch& scratch, std::span<const UnwindTable> native) noexcept
    : SignalCapture(clock, memory, sizeof(AgctRecord)),
      agct_(agct),
      max_depth_(max_depth),
      scratch_(scratch),
      native_(native) {}

uint8_t* AgctCapture::claim_scratch(uint32_t key) noexcept {
  const size_t size = scratch_size(max_depth_);
  for (size_t i = 0; i < scratch_.count; ++i) {
    uint8_t* memory = scratch_.memory + ((key + i) % scratch_.count) * size;
    uint32_t free = 0;
    // Acquire pairs with the release in take().
    if (reinterpret_cast<Buffer*>(memory)->busy.compare_exchange_strong(free, 1, std::memory_order_acquire,
                                                                        std::memory_order_relaxed)) {
      return memory;
    }
  }
  return nullptr;
}

void AgctCapture::take(SampledThread& thread, const siginfo_t& info, void* ucontext, uint64_t now_ns) noexcept {
  const uint64_t weight = clock_.weight_ns(thread.clock, info);
  const Registers registers = Registers::of(*static_cast<ucontext_t*>(ucontext));
  auto* scratch = reinterpret_cast<Buffer*>(claim_scratch(thread.clock.serial));
  if (scratch == nullptr) {
    clock_.rest(thread.clock, 0);
    return drop(Drop::kNoScratch);
  }

  const uint32_t kernel_count = clock_.kernel_frames(thread.clock, scratch->kernel);
  AgctTrace trace{thread.env, 0, scratch->frames};
  agct_(&trace, max_depth_, ucontext);
  // It can't walk a thread inside the JVM's own code that has no Java frame at all: that is no failure.
  constexpr int32_t kUnknownNotJava = -3;
  if (trace.frame_count == kUnknownNotJava && thread.last_java_sp != nullptr && *thread.last_java_sp == 0) {
    trace.frame_count = 0;
  }
  const int32_t result = trace.frame_count;
  const uint32_t frame_count = result > 0 ? static_cast<uint32_t>(result) : walk_from_caller(trace, ucontext);

  const size_t kernel_bytes = kernel_count * sizeof(uint64_t);
  const size_t frame_bytes = frame_count * sizeof(AgctFrame);
  uint8_t* out = ring_.reserve(sizeof(AgctRecord) + kernel_bytes + frame_bytes);
  if (out != nullptr) {
    AgctRecord record{};
    record.time_ns = now_ns;
    record.weight_ns = weight;
    record.pc = registers.pc;
    record.thread = thread.clock.serial;
    record.result = result;
    record.frame_count = frame_count;
    record.kernel_count = static_cast<uint16_t>(kernel_count);
    record.waits = thread.clock.waits.load(std::memory_order_relaxed);
    record.truncated = frame_count >= static_cast<uint32_t>(max_depth_);
    std::memcpy(out, &record, sizeof(record));
    std::memcpy(out + sizeof(record), scratch->kernel, kernel_bytes);
    std::memcpy(out + sizeof(record) + kernel_bytes, scratch->frames, frame_bytes);
    ring_.commit(out);
  } else {
    drop(Drop::kRingFull);
  }
  scratch->busy.store(0, std::memory_order_release);
  clock_.rest(thread.clock, out != nullptr ? registers.sp : 0);
}

uint32_t AgctCapture::walk_from_caller(AgctTrace& trace, void* ucontext) noexcept {
  // AsyncGetCallTrace can't start in a C++ function that Java calls without further ado (Math.pow), in a stub
  // (arraycopy), or in the first and last instructions of a method.
  constexpr int32_t kUnknownJava = -5, kNotWalkableJava = -6;
  if (trace.frame_count != kUnknownJava && trace.frame_count != kNotWalkableJava) return 0;
  auto& context = *static_cast<ucontext_t*>(ucontext);
  const Registers own = Registers::of(context);
  Registers attempts[2];
  int count = 0;
  if (Registers java = own; leave_native_code(native_, context, java)) {
    skip_breadcrumb(java);
    attempts[count++] = java;
  } else {
    Registers by_frame{};
    const bool has_frame = Registers::caller_by_frame(context, by_frame);
    const Registers frameless = Registers::caller_without_frame(context);
    // A frame record with the very return address that the link register holds is the leaf's own, so sp is off by it.
    const bool frame_is_own = has_frame && by_frame.pc == frameless.pc;
    if (!frame_is_own) attempts[count++] = frameless;
    if (has_frame) attempts[count++] = by_frame;
  }
  for (int i = 0; i < count; ++i) {
    attempts[i].store(context);
    trace.frame_count = 0;
    agct_(&trace, max_depth_, ucontext);
    own.store(context);
    if (trace.frame_count > 0 && !starts_twice(trace)) return static_cast<uint32_t>(trace.frame_count);
  }
  return 0;
}

}  // namespace tarsier::capture
