// The virtual threads whose names have been copied. They come by the million and change their carriers all the time, so
// a table of fixed size keeps the last ones; a name is copied anew if its place was taken, or forget() was called.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tarsier::capture {

// From any thread and in handlers; waits for nobody.
class NamedVirtuals {
 public:
  [[nodiscard]] bool has(int64_t id) const noexcept {
    return places_[place_of(id)].load(std::memory_order_relaxed) == entry_of(id);
  }
  void add(int64_t id) noexcept { places_[place_of(id)].store(entry_of(id), std::memory_order_relaxed); }
  // Now and then: threads can be renamed.
  void forget() noexcept { period_.fetch_add(1, std::memory_order_relaxed); }

 private:
  static constexpr int kLog2Places = 12;
  static constexpr int kIdBits = 48;
  static size_t place_of(int64_t id) noexcept {
    constexpr uint64_t kSpread = 0x9e3779b97f4a7c15;
    return (static_cast<uint64_t>(id) * kSpread) >> (64 - kLog2Places);
  }
  // Never 0, which is what empty places hold.
  [[nodiscard]] uint64_t entry_of(int64_t id) const noexcept {
    const auto period = uint64_t{period_.load(std::memory_order_relaxed)} % 0xffff + 1;
    return period << kIdBits | (static_cast<uint64_t>(id) & ((uint64_t{1} << kIdBits) - 1));
  }

  std::atomic<uint32_t> period_{0};
  std::array<std::atomic<uint64_t>, size_t{1} << kLog2Places> places_{};
};

}  // namespace tarsier::capture
