// Allocation sampling, the part that runs in application threads: the stack and the class of an object that the JVM
// chose, unresolved, into a ring. No signal handler: the JVM calls us at a safe point of the allocating thread.
#pragma once

#include <jvmti.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "agent/engines/alloc_draws.h"
#include "agent/thread_registry.h"
#include "base/sigsafe/gate.h"
#include "base/sigsafe/mpsc_ring.h"
#include "hotspot/threads.h"

namespace tarsier::agent {

// One sample in the ring; frame_count frames and then the class's signature follow it.
struct AllocRecord {
  uint64_t time_ns;  // CLOCK_MONOTONIC
  uint64_t size;
  uint64_t weight;
  uint32_t thread;       // serial in the registry, 0 if unknown
  int32_t error;         // jvmtiError of the stack
  uint32_t frame_count;  // 0: allocated by the VM itself, or an error
  uint16_t signature_size;
  bool truncated;

  [[nodiscard]] std::span<const jvmtiFrameInfo> frames() const noexcept {
    return {reinterpret_cast<const jvmtiFrameInfo*>(this + 1), frame_count};
  }
  // Ljava/lang/String;  As text, because the class may be gone when the record is decoded, and a reference would keep
  // it from going.
  [[nodiscard]] std::string_view signature() const noexcept {
    return {reinterpret_cast<const char*>(frames().data() + frame_count), signature_size};
  }
};
static_assert(sizeof(AllocRecord) % 8 == 0);

enum class AllocDrop : uint8_t { kRingFull, kNoMemory, kCount };
constexpr const char* kAllocDropNames[] = {"ring full", "no memory"};

struct AllocCounters {
  std::atomic<uint64_t> taken{0};
  std::atomic<uint64_t> dropped[static_cast<size_t>(AllocDrop::kCount)] = {};
  std::atomic<uint64_t> passed_over{0};  // drawn by the JVM at its finer interval, and not taken
  // CPU time in the callback, of some calls: their mean times all calls is what the application paid.
  std::atomic<uint64_t> measured{0};
  std::atomic<uint64_t> measured_ns{0};
};

class AllocCapture {
 public:
  // `ring` is zeroed and owned by the caller. `allocated_bytes`: if the JVM's gaps depend on the object before them,
  // see alloc_probability_after.
  AllocCapture(ThreadRegistry& threads, AllocDraws& draws, std::optional<hotspot::AllocatedBytesLayout> allocated_bytes,
               std::span<uint8_t> ring, int32_t max_depth);

  // The JVMTI event, in the allocating thread.
  void sample(jvmtiEnv* jvmti, JNIEnv* jni, jclass klass, int64_t size) noexcept;
  // Nobody is in sample() any more, nor does anything there, when it returns.
  void silence() noexcept;

  MpscRing& ring() noexcept { return ring_; }
  AllocCounters& counters() noexcept { return counters_; }

 private:
  void take_or_pass(jvmtiEnv* jvmti, JNIEnv* jni, jclass klass, int64_t size) noexcept;
  void take(jvmtiEnv* jvmti, jclass klass, int64_t size, double hit) noexcept;
  // The probability with which the JVM hit this object.
  double hit_of(JNIEnv* jni, int64_t size, int64_t drawn_with) noexcept;
  // The interval with which this thread's sample was drawn; from now on it waits for one drawn with the current one.
  int64_t next_draw() noexcept;
  void drop(AllocDrop cause) noexcept {
    counters_.dropped[static_cast<size_t>(cause)].fetch_add(1, std::memory_order_relaxed);
  }

  ThreadRegistry& threads_;
  AllocDraws& draws_;
  const std::optional<hotspot::AllocatedBytesLayout> allocated_bytes_;
  const int32_t max_depth_;
  const Nanos clock_cost_;
  MpscRing ring_;
  AllocCounters counters_;
  Gate gate_;
  std::atomic<bool> silent_{false};
};

}  // namespace tarsier::agent
