// Sampling by stack fragments: the handler only copies, see hotspot/sigsafe/fragment.h.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "capture/agct_witness.h"
#include "capture/java_bottoms.h"
#include "capture/named_virtuals.h"
#include "capture/signal_capture.h"
#include "hotspot/sigsafe/fragment.h"

namespace tarsier::capture {

// One sample in the ring; kernel_count addresses, a Fragment and its stack follow it.
struct FragmentRecord : SampleHeader {
  [[nodiscard]] std::span<const uint64_t> kernel() const noexcept {
    return {reinterpret_cast<const uint64_t*>(this + 1), kernel_count};
  }
  [[nodiscard]] const hotspot::Fragment& fragment() const noexcept {
    return *reinterpret_cast<const hotspot::Fragment*>(kernel().data() + kernel_count);
  }
};
static_assert(sizeof(FragmentRecord) % 8 == 0);

class FragmentCapture final : public SignalCapture {
 public:
  // Copied of a thread at once: of a deep stack all, as long as there is much room in the ring.
  static constexpr uint32_t kMaxStack = 32 << 10;
  static constexpr uint32_t kMaxDeepStack = 512 << 10;
  static constexpr size_t kGrain = 512;  // of rings for fragments, which have some 10 KB

  FragmentCapture(Clock& clock, const hotspot::ThreadFields& fields, const Memory& memory) noexcept
      : SignalCapture(clock, memory, sizeof(FragmentRecord), kGrain),
        fields_(fields),
        self_(::getpid()),
        max_deep_stack_(std::clamp(static_cast<uint32_t>(memory.ring_size / 16), kMaxStack, kMaxDeepStack)) {}

  JavaBottoms& bottoms() noexcept { return bottoms_; }

  // Before activate(): of no stack is more copied.
  void limit_stack(uint32_t bytes) noexcept { limit_ = bytes; }

  // Before activate(): asked about every sample. Must live as long.
  void set_witness(AgctWitness* witness) noexcept { witness_ = witness; }

  // Before activate(): where the JVM keeps virtual threads, if it has any. Must live as long.
  void set_virtual_threads(const hotspot::VirtualThreadLayout* layout) noexcept { virtual_threads_ = layout; }
  NamedVirtuals& named_virtuals() noexcept { return named_virtuals_; }

 private:
  void take(SampledThread& thread, const siginfo_t& info, void* ucontext, uint64_t now_ns) noexcept override;

  // Of a thread without a JavaThread; its stack goes as far as bottoms() tells.
  void take_jvm_thread(SampledThread& thread, const SampleHeader& header, const uint64_t* kernel,
                       hotspot::Fragment& fragment) noexcept;
  void set_stack_size(const SampledThread& thread, hotspot::Fragment& fragment) const noexcept;

  const hotspot::ThreadFields fields_;
  const pid_t self_;
  const uint32_t max_deep_stack_;
  uint32_t limit_ = kMaxDeepStack;
  JavaBottoms bottoms_;
  const hotspot::VirtualThreadLayout* virtual_threads_ = nullptr;
  NamedVirtuals named_virtuals_;
  AgctWitness* witness_ = nullptr;  // null: nobody asks
};

}  // namespace tarsier::capture
