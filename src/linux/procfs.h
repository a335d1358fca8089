// What the kernel tells about this process's threads.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/units.h"

namespace tarsier::linux {

// As a folder like /proc/PID/task lists them; of this process, if none is named. Empty if it can't be read, for want of
// a descriptor perhaps; one or the other may be missing if threads end meanwhile. So who is not listed need not be
// gone: that he has no clock any more tells.
std::vector<pid_t> thread_ids(const char* tasks = "/proc/self/task");
uint64_t thread_count();                          // of this process: how many those are
std::string thread_name(pid_t tid);               // the 15 characters that the kernel keeps
std::optional<Nanos> thread_cpu_time(pid_t tid);  // of a thread of this process; nullopt once it is gone
char thread_state(pid_t tid);                     // R, S, D, ... of a thread of this process; 0 once it is gone
// Where a thread of this process was when it went to sleep in the kernel; zeros if it runs or may run, nothing if the
// kernel does not tell.
struct SleepingPlace {
  uint64_t sp = 0, pc = 0;
};
std::optional<SleepingPlace> sleeping_place(pid_t tid);
std::optional<uint64_t> sleeping_sp(pid_t tid);        // of it
std::optional<int64_t> read_number(const char* path);  // e.g. /proc/sys/kernel/pid_max
// Signals that the first thread of this process blocks, as a mask with bit 0 for signal 1. Threads inherit it, so a
// signal that is blocked there reaches nobody.
uint64_t blocked_signals();
int usable_cpus();    // by this process
Nanos process_age();  // since this process was started
// The kernel's tick: what timers on CPU clocks are rounded up to.
Nanos kernel_tick();

}  // namespace tarsier::linux
