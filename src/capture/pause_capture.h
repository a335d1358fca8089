// Pauses of garbage collections, as JVMTI tells of them (GarbageCollectionStart and -Finish). The JVM calls on the
// thread that does the collection, while all others stand still: no JNI, no JVMTI, no lock, no allocation; two clocks
// are read and one record goes into a ring.
//
// What exactly is posted (read in 8, 17 and 25): a pair for every stretch in which the program stands still for a
// collector, also the short ones of a concurrent collector (those of Shenandoah and ZGC; G1's Remark and Cleanup in 17
// and 25, in 8 not), and for a heap inspection. Pairs may lie in one another (G1 of 8: a full collection within the
// operation that asks for it): the outermost is the pause.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/sigsafe/mpsc_ring.h"

namespace tarsier::capture {

// Where the JVM tells what it is doing: in counters of its own, which it writes itself during every pause, on the
// threads that we are called on. What it does not tell is null.
struct PauseSigns {
  static constexpr size_t kMostCollectors = 8;
  struct Collector {
    const int64_t* entered = nullptr;  // when a collection began, and when one ended, by a clock of the JVM
    const int64_t* left = nullptr;
  };
  Collector collectors[kMostCollectors];
  size_t collector_count = 0;
  const char* cause = nullptr;  // "No GC" unless a collection is under way
  size_t cause_size = 0;
  const char* last_cause = nullptr;
  size_t last_cause_size = 0;
  const int64_t* safepoints = nullptr;  // how many there have been
};

struct PauseRecord {
  static constexpr size_t kLongestCause = 48;  // 33 in 25
  int64_t begin_ns;                            // CLOCK_MONOTONIC
  int64_t end_ns;
  int32_t tid;
  int32_t collector;          // of PauseSigns::collectors; -1: not known
  char cause[kLongestCause];  // ends with NUL unless it fills the room; empty: not known
};
static_assert(sizeof(PauseRecord) % 8 == 0);

struct PauseCounters {
  std::atomic<uint64_t> taken{0};  // pauses that are over, or whose end was not told
  std::atomic<uint64_t> ring_full{0};
  std::atomic<uint64_t> no_end{0};
  std::atomic<uint64_t> no_begin{0};  // ends of pauses that had begun before we listened: not taken
};

class PauseCapture {
 public:
  // `ring` is zeroed and owned by the caller; its size is a power of two.
  PauseCapture(std::span<uint8_t> ring, const PauseSigns& signs) noexcept
      : ring_(ring.data(), ring.size()), signs_(signs) {}

  // By one thread at a time, though not always the same: one pause comes after the other.
  void begin(int64_t now_ns) noexcept;
  void end(int64_t now_ns, pid_t tid) noexcept;

  MpscRing& ring() noexcept { return ring_; }
  [[nodiscard]] const PauseCounters& counters() const noexcept { return counters_; }

 private:
  void note(PauseRecord& record) const noexcept;
  [[nodiscard]] int32_t collector_now() const noexcept;

  MpscRing ring_;
  const PauseSigns signs_;
  PauseCounters counters_;
  // Of the pause that is under way. Threads hand it on by the JVM's own locks; atomic for those who check that.
  std::atomic<int32_t> depth_{0};
  std::atomic<int64_t> begin_ns_{0};
  std::atomic<int64_t> safepoint_{0};
  std::atomic<int64_t> left_[PauseSigns::kMostCollectors] = {};
};

}  // namespace tarsier::capture
