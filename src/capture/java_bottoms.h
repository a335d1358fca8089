// Above which address a thread's stack has no Java frames, as far as has been seen: what lies there (some 7 KB of C)
// need not be copied. The decoder learns it, handlers ask; nobody waits, and it does not matter if a word is lost.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace tarsier::capture {

class JavaBottoms {
 public:
  struct Known {
    uint64_t bottom = 0;  // 0: not known
    bool deep = false;
    bool operator==(const Known&) const = default;
  };
  [[nodiscard]] Known of(uint32_t thread) const noexcept {
    const uint64_t entry = entries_[thread % kEntries].load(std::memory_order_relaxed);
    return entry >> (kAddressBits + 1) == tag(thread) ? Known{entry & kAddress, (entry >> kAddressBits & 1) != 0}
                                                      : Known{};
  }
  void learn(uint32_t thread, Known known) noexcept {
    if (known.bottom > kAddress) return;
    const uint64_t entry = tag(thread) << (kAddressBits + 1) | uint64_t{known.deep} << kAddressBits | known.bottom;
    entries_[thread % kEntries].store(entry, std::memory_order_relaxed);
  }

 private:
  static constexpr uint32_t kEntries = 1 << 12;
  static constexpr int kAddressBits = 48;
  static constexpr uint64_t kAddress = (uint64_t{1} << kAddressBits) - 1;
  // Tells threads apart that share an entry, whose numbers differ by a multiple of kEntries. Rarely 0.
  static uint64_t tag(uint32_t thread) noexcept { return (thread / kEntries + 1) & 0x7fff; }

  std::array<std::atomic<uint64_t>, kEntries> entries_{};
};

}  // namespace tarsier::capture
