// With which interval the JVM draws its samples, now and earlier.
//
// Up to 24 the JVM miscounts when objects are allocated outside a thread's buffer (TLAB): bytes before such an object
// are forgotten or counted twice (JDK-8356372). Measured on 17 with arrays of 100 KB between small objects: the arrays
// 46 % too few, the small objects 68 % too many. The error shrinks with the distance between two samples: with a
// sixteenth of the interval it is within 3 %. So on those JVMs we let the JVM draw sixteen times as often and pass over
// most of it; and because even that costs most of a microsecond each time, only while objects large enough to be
// allocated outside are a visible part of the whole.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace tarsier::agent {

class AllocDraws {
 public:
  // `before`: what the JVM drew with until now, in threads up to the serial `newest`.
  AllocDraws(int64_t wanted, int64_t before, uint32_t newest, bool miscounts);

  [[nodiscard]] int64_t wanted() const noexcept { return wanted_; }
  [[nodiscard]] int64_t current() const noexcept { return current_.load(std::memory_order_relaxed); }
  // With which a thread that has not been sampled yet drew when it was created.
  [[nodiscard]] int64_t first_of(uint32_t thread) const noexcept;

  // Any thread: the JVM drew an object.
  void saw(int64_t size, int64_t drawn_with) noexcept;
  // Session thread: true if the JVM must be told about a new current().
  bool adapt(uint32_t newest);

 private:
  struct Era {
    uint32_t newest = 0;  // threads up to this one were created in it, or before
    int64_t interval = 0;
  };
  static constexpr size_t kMaxEras = 8;

  const int64_t wanted_, fine_;
  std::atomic<int64_t> current_;
  std::array<Era, kMaxEras> eras_;
  std::atomic<size_t> era_count_{1};  // release when one is added, acquire where they are read
  // Estimates since the last decision.
  std::atomic<int64_t> bytes_{0}, large_bytes_{0}, large_objects_{0};
};

}  // namespace tarsier::agent
