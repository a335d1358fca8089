// Condition variables that threads sleep on because a monitor is not theirs: whoever signals one has released it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tarsier::capture {

class SleepTable {
 public:
  struct Slot {
    std::atomic<uint64_t> variable{0}, monitor{0};
  };
  // `memory`: zeroed, `count` (a power of two) slots, owned by the caller. A slot stays with its variable: the JVM
  // keeps those of its threads, and gives them to others.
  SleepTable(void* memory, size_t count) noexcept : slots_(static_cast<Slot*>(memory)), mask_(count - 1) {}

  // By the thread that is about to sleep on it.
  void sleeps(uint64_t variable, uint64_t monitor) noexcept {
    for (size_t i = 0; i < kProbes; ++i) {
      Slot& slot = slots_[(spread(variable) + i) & mask_];
      uint64_t there = slot.variable.load(std::memory_order_relaxed);
      if (there == 0) slot.variable.compare_exchange_strong(there, variable, std::memory_order_relaxed);
      if (there != 0 && there != variable) continue;
      slot.monitor.store(monitor, std::memory_order_release);
      return;
    }
  }
  // The monitor that the one who sleeps on it wants; 0: none, or somebody has asked before.
  uint64_t take(uint64_t variable) noexcept {
    for (size_t i = 0; i < kProbes; ++i) {
      Slot& slot = slots_[(spread(variable) + i) & mask_];
      const uint64_t there = slot.variable.load(std::memory_order_relaxed);
      if (there == 0) return 0;
      if (there == variable) return slot.monitor.exchange(0, std::memory_order_acq_rel);
    }
    return 0;
  }

 private:
  static constexpr size_t kProbes = 32;
  static size_t spread(uint64_t variable) noexcept {
    return static_cast<size_t>((variable * 0x9e3779b97f4a7c15ULL) >> 24);
  }
  Slot* const slots_;
  const size_t mask_;
};

}  // namespace tarsier::capture
