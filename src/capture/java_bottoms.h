// Above which address a thread's stack has no Java frames, as far as has been seen: what lies there (some 7 KB of C)
// need not be copied. The decoder learns it, handlers ask; nobody waits, and it does not matter if a word is lost.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace tarsier::capture {

class JavaBottoms {
 public:
  static constexpr uint32_t kEntries = 1 << 12;
  static constexpr int kAddressBits = 48;

  // 0: not known.
  [[nodiscard]] uint64_t of(uint32_t thread) const noexcept {
    const uint64_t entry = entries_[thread % kEntries].load(std::memory_order_relaxed);
    return entry >> kAddressBits == tag(thread) ? entry & kAddress : 0;
  }
  void learn(uint32_t thread, uint64_t bottom) noexcept {
    if (bottom > kAddress) return;
    entries_[thread % kEntries].store(tag(thread) << kAddressBits | bottom, std::memory_order_relaxed);
  }

 private:
  static constexpr uint64_t kAddress = (uint64_t{1} << kAddressBits) - 1;
  // Tells threads apart that share an entry, whose numbers differ by a multiple of kEntries. Rarely 0.
  static uint64_t tag(uint32_t thread) noexcept { return (thread / kEntries + 1) & 0xffff; }

  std::array<std::atomic<uint64_t>, kEntries> entries_{};
};

}  // namespace tarsier::capture
