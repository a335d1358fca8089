// What every engine that samples by a signal has in common: the handler finds the interrupted thread, asks its clock
// whether the signal is a tick, and lets the engine take the sample into a ring.
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

namespace tarsier::capture {

// The start of every record in the ring; kernel_count addresses follow the engine's own record.
struct SampleHeader {
  uint64_t time_ns;  // CLOCK_MONOTONIC
  uint64_t weight_ns;
  uint32_t thread;
  uint16_t kernel_count;
  bool waits : 1;        // the thread was waiting
  bool repeated : 1;     // nothing follows: the stack is that of the thread's last record
  bool kept : 1;         // only to be kept: its time comes with a record that repeats it
  bool blocked : 1;      // waits for a monitor
  bool ongoing : 1;      // the wait is not over
  bool from_before : 1;  // it began before the recording
  // Of a wait that the kernel has told us of; else not known.
  bool uninterruptible : 1;  // as for a disk
  bool page_fault : 1;       // for memory that has to be read from there
};

// What the handler knows about a thread.
struct SampledThread {
  void* env = nullptr;                     // JNIEnv*
  const uint8_t* java_thread = nullptr;    // JavaThread*; null of the JVM's own threads
  const uint64_t* last_java_sp = nullptr;  // in the JVM's memory; null if it is not known where
  uint32_t samples = 0;
  ThreadClock clock;
};

enum class Drop : uint8_t { kUnknownThread, kNoScratch, kRingFull, kCount };
constexpr const char* kDropNames[] = {"thread not registered", "all scratch buffers busy", "ring full"};

struct SampleCounters {
  std::atomic<uint64_t> taken{0};
  std::atomic<uint64_t> dropped[static_cast<size_t>(Drop::kCount)] = {};
  // CPU time in the handler, of some samples: the mean times `taken` is what the application paid.
  std::atomic<uint64_t> measured{0};
  std::atomic<uint64_t> measured_ns{0};
};

class SignalCapture : public Repeats {
 public:
  virtual ~SignalCapture() = default;

  struct Memory {  // all zeroed, owned by the caller
    uint8_t* ring;
    size_t ring_size;
    void* threads;
    size_t thread_slots;
  };

  ThreadTable<SampledThread>& threads() noexcept { return threads_; }
  MpscRing& ring() noexcept { return ring_; }
  SampleCounters& counters() noexcept { return counters_; }
  Clock& clock() noexcept { return clock_; }

  // Any thread of ours.
  void repeat(const ThreadClock& thread, uint64_t now_ns, uint64_t weight_ns) noexcept override;

  // From now on the handler works for `capture`. With nullptr it does nothing any more; returns when the last handler
  // that still works for the old one has left.
  static void activate(SignalCapture* capture) noexcept;
  static void handle_signal(int signal, siginfo_t* info, void* ucontext) noexcept;

 protected:
  // `record_size`: of the engine's record, which begins with a SampleHeader. `grain`: of the ring.
  SignalCapture(Clock& clock, const Memory& memory, size_t record_size, size_t grain = MpscRing::kLeastGrain) noexcept;

  // Takes one sample: sees to weight, kernel frames and rest() of the clock.
  virtual void take(SampledThread& thread, const siginfo_t& info, void* ucontext, uint64_t now_ns) noexcept = 0;
  void drop(Drop cause) noexcept {
    counters_.dropped[static_cast<size_t>(cause)].fetch_add(1, std::memory_order_relaxed);
  }

  Clock& clock_;
  MpscRing ring_;

 private:
  void sample(pid_t tid, const siginfo_t& info, void* ucontext) noexcept;

  ThreadTable<SampledThread> threads_;
  const size_t record_size_;
  SampleCounters counters_;
};

}  // namespace tarsier::capture
