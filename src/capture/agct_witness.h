// A second opinion: what AsyncGetCallTrace says about the very stack that a handler has just copied. For tests of the
// decoder; whoever samples needs none.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "capture/agct.h"

namespace tarsier::capture {

class AgctWitness {
 public:
  static constexpr int32_t kDepth = 1000;  // of deeper stacks the innermost frames
  struct Testimony {
    int32_t result = 0;                 // a number of frames, or a negative cause
    std::span<const AgctFrame> frames;  // innermost first; instead of the jmethodID the Method* that it stands for
  };
  static size_t memory_size(size_t testimonies) noexcept { return testimonies * sizeof(Slot); }

  // `memory`: zeroed, owned by the caller, of memory_size().
  AgctWitness(AgctFunction agct, void* memory, size_t testimonies) noexcept
      : agct_(agct), slots_(static_cast<Slot*>(memory)), count_(testimonies) {}

  // In the handler, before the sample itself is shown to anybody. Thread and time are those of its header.
  void ask(void* env, uint32_t thread, uint64_t time_ns, void* ucontext) noexcept;

  // In the thread that decodes: what was said about that sample, until forget(). False: nothing was.
  [[nodiscard]] bool find(uint32_t thread, uint64_t time_ns, Testimony& out) noexcept;
  // The one that was found last is needed no more.
  void forget() noexcept;

 private:
  struct Slot {
    std::atomic<uint64_t> time_ns;  // 0: it is free; kBusy: somebody is writing
    uint32_t thread;
    int32_t result;
    AgctFrame frames[kDepth];
  };
  static constexpr uint64_t kBusy = UINT64_MAX;

  const AgctFunction agct_;
  Slot* const slots_;
  const size_t count_;
  std::atomic<uint64_t> next_{0};
  size_t found_ = 0;  // the slot
};

}  // namespace tarsier::capture
