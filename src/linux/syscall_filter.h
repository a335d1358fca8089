// A filter of system calls (seccomp) may answer those that it does not know by killing the process, and a profiler
// makes some that applications don't: services of systemd die of perf_event_open unless they say what shall happen
// instead.
#pragma once

namespace tarsier::linux {

enum class DoubtfulCall { kPerfEventOpen, kBpf, kCount };

// Why the call is not to be made, since it may be the end of this process; null if it may be made. Without a filter
// nothing is done; with one a child, which can't come to more harm than dying, has tried it out, once. Kernels before
// 5.16 dump the memory of such a child together with that of all who share it, and kill them: there nothing is tried.
[[nodiscard]] const char* why_not_call(DoubtfulCall call) noexcept;
[[nodiscard]] inline bool may_call(DoubtfulCall call) noexcept {
  return why_not_call(call) == nullptr;
}

}  // namespace tarsier::linux
