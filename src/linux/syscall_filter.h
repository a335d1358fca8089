// A filter of system calls (seccomp) may answer those that it does not know by killing the process, and a profiler
// makes some that applications don't: services of systemd die of perf_event_open unless they say what shall happen
// instead.
#pragma once

namespace tarsier::linux {

enum class DoubtfulCall { kPerfEventOpen, kBpf, kCount };

// False if the call may be the end of this process. Without a filter nothing is done; with one a child, which can't
// come to more harm than dying, has tried it out, once. Kernels before 5.16 dump the memory of such a child together
// with that of all who share it, and kill them: there nothing is tried, and the answer is yes.
[[nodiscard]] bool may_call(DoubtfulCall call) noexcept;

}  // namespace tarsier::linux
