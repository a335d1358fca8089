// Random times between samples, so that no program keeps in step with them.
#pragma once

#include <cstdint>

namespace tarsier {

// xorshift64*: small, and good enough to keep sampling out of step with the program.
inline uint64_t next_random(uint64_t& state) noexcept {
  state ^= state >> 12;
  state ^= state << 25;
  state ^= state >> 27;
  return state * 0x2545F4914F6CDD1DULL;
}
// Uniform in [interval/2, interval*3/2), so the mean is the interval.
inline uint64_t draw_period(uint64_t interval_ns, uint64_t& state) noexcept {
  return interval_ns / 2 + (interval_ns == 0 ? 0 : next_random(state) % interval_ns);
}
// Uniform in (0, interval]: threads start out of phase.
inline uint64_t draw_phase(uint64_t interval_ns, uint64_t& state) noexcept {
  return 1 + (interval_ns == 0 ? 0 : next_random(state) % interval_ns);
}

}  // namespace tarsier
