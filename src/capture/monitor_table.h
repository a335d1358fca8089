// Monitors that threads are blocked by: how many, since when, and the order of what happens to them.
//
// A monitor serves one object as long as a thread is blocked by it. That is a generation: it begins with the first
// blocked thread and ends with the last. The order of events is drawn from a counter of the monitor, by whoever owns
// it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tarsier::capture {

struct ContendedMonitor {
  std::atomic<uint64_t> monitor{0};  // ObjectMonitor*
  std::atomic<uint64_t> state{0};    // generation << kCountBits | threads that are blocked
  std::atomic<uint64_t> order{0};    // generation << 32 | the last number drawn in it
  std::atomic<uint64_t> named{0};    // generation << kCountBits | number of the name of its object then

  // Object.wait: platform threads that are in it, the number of the object's name, and when one was last notified.
  std::atomic<uint32_t> waiters{0}, waited{0};
  std::atomic<uint64_t> notified_ns{0};
  // Threads notified so far, and by whom the last one was: his serial.
  std::atomic<uint32_t> notified{0}, notifier{0};

  static constexpr int kCountBits = 20;
  static constexpr uint64_t kCount = (uint64_t{1} << kCountBits) - 1;

  [[nodiscard]] bool is_contended() const noexcept { return (state.load(std::memory_order_relaxed) & kCount) != 0; }
  [[nodiscard]] uint64_t generation() const noexcept { return state.load(std::memory_order_relaxed) >> kCountBits; }
  // The number of the object's name; 0: not known (yet).
  [[nodiscard]] uint32_t lock(uint64_t in_generation) const noexcept {
    const uint64_t value = named.load(std::memory_order_relaxed);
    return value >> kCountBits == in_generation ? static_cast<uint32_t>(value & kCount) : 0;
  }
  void name(uint64_t in_generation, uint32_t number) noexcept {
    named.store(in_generation << kCountBits | (number & kCount), std::memory_order_relaxed);
  }
  // By the owner. 0 in the moment in which the generation has just begun, and nothing has an order yet.
  uint32_t draw(uint64_t in_generation) noexcept {
    const uint64_t drawn = order.fetch_add(1, std::memory_order_acq_rel) + 1;
    return drawn >> 32 == (in_generation & 0xffffffff) ? static_cast<uint32_t>(drawn) : 0;
  }
};

class MonitorTable {
 public:
  // `memory`: zeroed, `count` (a power of two) entries, owned by the caller.
  MonitorTable(void* memory, size_t count) noexcept
      : entries_(static_cast<ContendedMonitor*>(memory)), mask_(count - 1) {}

  [[nodiscard]] ContendedMonitor* find(uint64_t monitor) noexcept {
    for (size_t i = 0; i < kProbes; ++i) {
      ContendedMonitor& entry = entries_[(spread(monitor) + i) & mask_];
      const uint64_t there = entry.monitor.load(std::memory_order_relaxed);
      if (there == monitor) return &entry;
      if (there == 0) return nullptr;
    }
    return nullptr;
  }

  // Null: no room.
  ContendedMonitor* find_or_add(uint64_t monitor) noexcept {
    for (size_t i = 0; i < kProbes; ++i) {
      ContendedMonitor& entry = entries_[(spread(monitor) + i) & mask_];
      uint64_t there = entry.monitor.load(std::memory_order_relaxed);
      if (there == 0 && entry.monitor.compare_exchange_strong(there, monitor, std::memory_order_relaxed)) return &entry;
      if (there == monitor) return &entry;
    }
    return nullptr;
  }

  struct Entered {
    ContendedMonitor* entry = nullptr;  // null: no room
    uint64_t generation = 0;
    bool opened = false;  // by this thread: it has to say which object it is
  };
  // A thread is going to block.
  Entered block(uint64_t monitor) noexcept {
    ContendedMonitor* entry = find_or_add(monitor);
    if (entry == nullptr) return {};
    uint64_t state = entry->state.load(std::memory_order_relaxed);
    uint64_t next = 0;
    bool opened = false;
    do {
      opened = (state & ContendedMonitor::kCount) == 0;
      if (opened) {
        next = generations_.fetch_add(1, std::memory_order_relaxed) + 1;
        next = next << ContendedMonitor::kCountBits | 1;
      } else {
        next = state + 1;
      }
    } while (!entry->state.compare_exchange_weak(state, next, std::memory_order_relaxed));
    if (opened) entry->order.store(next >> ContendedMonitor::kCountBits << 32, std::memory_order_release);
    return {entry, next >> ContendedMonitor::kCountBits, opened};
  }
  // It is not blocked any more.
  static void unblock(ContendedMonitor& entry) noexcept {
    uint64_t state = entry.state.load(std::memory_order_relaxed);
    do {
      if ((state & ContendedMonitor::kCount) == 0) return;
    } while (!entry.state.compare_exchange_weak(state, state - 1, std::memory_order_relaxed));
  }

 private:
  static constexpr size_t kProbes = 32;
  static size_t spread(uint64_t monitor) noexcept {
    return static_cast<size_t>((monitor * 0x9e3779b97f4a7c15ULL) >> 24);
  }
  ContendedMonitor* const entries_;
  const size_t mask_;
  static inline std::atomic<uint64_t> generations_{0};  // no two tables share one
};

}  // namespace tarsier::capture
