// Where a JavaThread keeps the monitor that its compiled code has just released (24 and later). No table names it: it
// is found in the code of the function that looks there, SharedRuntime::complete_monitor_unlocking_C, by the
// instructions that read it, test it, and clear it.
#pragma once

#include <cstdint>
#include <span>

namespace tarsier::agent {

// Offset in a JavaThread, found in the first bytes of that function; 0: it does not look.
uint64_t unlocked_monitor_of_aarch64(std::span<const uint8_t> code);
uint64_t unlocked_monitor_of_x86(std::span<const uint8_t> code);

inline uint64_t find_unlocked_monitor(std::span<const uint8_t> code) {
#if defined(__aarch64__)
  return unlocked_monitor_of_aarch64(code);
#else
  return unlocked_monitor_of_x86(code);
#endif
}

}  // namespace tarsier::agent
