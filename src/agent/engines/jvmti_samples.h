// Samples whose stacks JVMTI has told, from the threads of ours that asked for them to the one that writes them.
#pragma once

#include <jvmti.h>

#include <atomic>
#include <cstdint>
#include <span>

#include "agent/engines/jvmti_stacks.h"
#include "agent/engines/sample_events.h"
#include "base/mapping.h"
#include "base/sigsafe/mpsc_ring.h"
#include "capture/signal_capture.h"

namespace tarsier::agent {

// One sample in the ring; frame_count frames follow it.
struct JvmtiRecord : capture::SampleHeader {
  int32_t error;
  uint32_t frame_count;
  bool truncated;

  [[nodiscard]] JvmtiStack stack() const noexcept {
    return {{reinterpret_cast<const jvmtiFrameInfo*>(this + 1), frame_count}, error, truncated};
  }
};
static_assert(sizeof(JvmtiRecord) % alignof(jvmtiFrameInfo) == 0);

class JvmtiSamples {
 public:
  explicit JvmtiSamples(size_t ring_bytes) : memory_(ring_bytes), ring_(memory_.data(), memory_.size()) {}

  [[nodiscard]] bool has_memory() const { return memory_.data() != nullptr; }
  // Any thread. `header`: time, weight and thread are set.
  void take(const capture::SampleHeader& header, const JvmtiStack& stack) noexcept;

  MpscRing& ring() noexcept { return ring_; }
  [[nodiscard]] Bytes memory() const { return Bytes(static_cast<int64_t>(memory_.size())); }
  [[nodiscard]] uint64_t taken() const { return taken_.load(std::memory_order_relaxed); }
  [[nodiscard]] uint64_t ring_full() const { return ring_full_.load(std::memory_order_relaxed); }

 private:
  Mapping memory_;
  MpscRing ring_;
  std::atomic<uint64_t> taken_{0}, ring_full_{0};
};

// Session thread.
class JvmtiDecoder {
 public:
  explicit JvmtiDecoder(EngineContext& context)
      : context_(context), stacks_(context), events_(context, recording::Event::kExecutionSample) {}

  void decode(const JvmtiRecord& record);
  [[nodiscard]] const SampleEvents::Counts& counts() const { return events_.counts(); }
  // The method with the most self time so far, and its share.
  [[nodiscard]] std::pair<std::string, double> hottest();

 private:
  EngineContext& context_;
  JvmtiStacks stacks_;
  SampleEvents events_;
};

}  // namespace tarsier::agent
