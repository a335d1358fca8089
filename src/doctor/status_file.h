// The lines of /proc/PID/status and /proc/PID/limits that we want.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tarsier::doctor {

struct ProcessState {
  uint64_t caught = 0, ignored = 0, blocked = 0;  // signals; bit n-1 is signal n. Blocked: by its first thread
  uint64_t capabilities = 0;                      // effective
  int seccomp = 0;                                // 0 none, 1 strict, 2 filter
  int64_t threads = 0;
};
ProcessState parse_process_state(std::string_view status);

constexpr uint64_t kUnlimited = UINT64_MAX;
struct ResourceLimits {
  uint64_t descriptors = kUnlimited, pending_signals = kUnlimited, locked_bytes = kUnlimited;  // the soft ones
};
// Nothing if the text is none.
std::optional<ResourceLimits> parse_limits(std::string_view limits);

// Bits of ProcessState::capabilities.
constexpr int kCapSysPtrace = 19, kCapSysAdmin = 21, kCapPerfmon = 38, kCapBpf = 39;
constexpr bool has_capability(uint64_t set, int bit) {
  return (set >> bit & 1) != 0;
}

}  // namespace tarsier::doctor
