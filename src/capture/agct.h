// Sampling by AsyncGetCallTrace: the handler asks the JVM for the stack of the thread it interrupted and puts the
// answer, unresolved, into a ring.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/sigsafe/mpsc_ring.h"
#include "capture/clock.h"
#include "capture/thread_table.h"
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
struct AgctRecord {
  uint64_t time_ns;  // CLOCK_MONOTONIC
  uint64_t weight_ns;
  uint64_t pc;  // where the thread was interrupted, in user space
  uint32_t thread;
  int32_t result;        // AGCT's answer: a number of frames, or a negative cause
  uint32_t frame_count;  // > 0 although it failed: the frames of the caller
  uint16_t kernel_count;
  bool truncated : 1;
  bool waits : 1;     // the thread was waiting
  bool repeated : 1;  // nothing follows: the stack is that of the thread's last record

  [[nodiscard]] std::span<const uint64_t> kernel() const noexcept {
    return {reinterpret_cast<const uint64_t*>(this + 1), kernel_count};
  }
  [[nodiscard]] std::span<const AgctFrame> frames() const noexcept {
    return {reinterpret_cast<const AgctFrame*>(kernel().data() + kernel_count), frame_count};
  }
};
static_assert(sizeof(AgctRecord) % 8 == 0);

enum class AgctDrop : uint8_t { kUnknownThread, kNoScratch, kRingFull, kCount };
constexpr const char* kAgctDropNames[] = {"thread not registered", "all scratch buffers busy", "ring full"};

// What the handler knows about a thread.
struct AgctThread {
  void* env = nullptr;
  const uint64_t* last_java_sp = nullptr;  // in the JVM's memory; null if it is not known where
  uint32_t samples = 0;
  ThreadClock clock;
};

struct AgctCounters {
  std::atomic<uint64_t> taken{0};
  std::atomic<uint64_t> dropped[static_cast<size_t>(AgctDrop::kCount)] = {};
  // CPU time in the handler, of some samples: the mean times `taken` is what the application paid.
  std::atomic<uint64_t> measured{0};
  std::atomic<uint64_t> measured_ns{0};
};

class AgctCapture final : public Repeats {
 public:
  struct Memory {  // all zeroed, owned by the caller
    uint8_t* ring;
    size_t ring_size;
    void* threads;
    size_t thread_slots;
    uint8_t* scratch;
    size_t scratch_count;
    std::span<const UnwindTable> native = {};  // of libraries whose functions Java code calls directly
  };
  static size_t scratch_size(int32_t max_depth) noexcept;

  AgctCapture(AgctFunction agct, Clock& clock, int32_t max_depth, const Memory& memory) noexcept;

  ThreadTable<AgctThread>& threads() noexcept { return threads_; }
  MpscRing& ring() noexcept { return ring_; }
  AgctCounters& counters() noexcept { return counters_; }
  Clock& clock() noexcept { return clock_; }

  // Any thread of ours.
  void repeat(const ThreadClock& thread, uint64_t now_ns, uint64_t weight_ns) noexcept override;

  // From now on the handler works for `capture`. With nullptr it does nothing any more; returns when the last handler
  // that still works for the old one has left.
  static void activate(AgctCapture* capture) noexcept;
  static void handle_signal(int signal, siginfo_t* info, void* ucontext) noexcept;

 private:
  void sample(pid_t tid, const siginfo_t& info, void* ucontext) noexcept;
  void take(AgctThread& thread, const siginfo_t& info, void* ucontext, uint64_t now) noexcept;
  uint8_t* claim_scratch(uint32_t key) noexcept;
  // Walks from the Java caller of the interrupted code; the number of frames, 0 if that fails too.
  uint32_t walk_from_caller(AgctTrace& trace, void* ucontext) noexcept;
  void drop(AgctDrop cause) noexcept {
    counters_.dropped[static_cast<size_t>(cause)].fetch_add(1, std::memory_order_relaxed);
  }

  const AgctFunction agct_;
  Clock& clock_;
  const int32_t max_depth_;
  MpscRing ring_;
  ThreadTable<AgctThread> threads_;
  uint8_t* const scratch_;
  const size_t scratch_count_;
  const std::span<const UnwindTable> native_;
  AgctCounters counters_;
};

}  // namespace tarsier::capture
