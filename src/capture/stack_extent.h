// How much of a thread's stack is worth a copy.
#pragma once

#include <cstdint>

namespace tarsier::capture {

struct StackExtent {
  uint64_t base = 0;          // where it begins
  uint64_t bottom = 0;        // where its first Java frame does, as far as is known; 0: not known
  uint64_t continuation = 0;  // where it has entered a virtual thread, whose stack ends there; 0: it has not
  uint64_t lowest = 0;        // the last address that it may grow to; 0: not known

  // Of the frame by which a continuation is entered: more than a walk looks at.
  static constexpr uint64_t kEntryBytes = 64;

  // From sp on. 0 on a stack of the application's own (a coroutine, a signal stack), of which nobody knows where it
  // ends: with nothing above it that may be read.
  [[nodiscard]] uint64_t bytes_from(uint64_t sp) const noexcept {
    constexpr uint64_t kLargestStack = uint64_t{1} << 30;
    uint64_t end = base;
    const auto ends_at = [&](uint64_t address) {
      if (address > sp && address < end) end = address;
    };
    ends_at(bottom);
    if (continuation != 0) ends_at(continuation + kEntryBytes);
    return sp >= lowest && sp < end && end - sp < kLargestStack ? end - sp : 0;
  }
};

}  // namespace tarsier::capture
