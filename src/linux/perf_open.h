#pragma once

#include <linux/perf_event.h>
#include <sys/types.h>

namespace tarsier::linux {

// perf_event_open, closed on exec: a descriptor, or -1 and errno, which is EPERM also where asking would be fatal.
int open_perf_event(perf_event_attr& attr, pid_t thread, int cpu) noexcept;

}  // namespace tarsier::linux
