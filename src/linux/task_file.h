// The files that the kernel keeps for each thread: short texts, read with one call.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string_view>

namespace tarsier::linux {

constexpr size_t kTaskFileBytes = 4096;

// `tasks`: an open folder such as /proc/self/task. Into `buffer`; empty if it can't be read.
std::string_view read_task_file(int tasks, pid_t tid, const char* name, char (&buffer)[kTaskFileBytes]);

}  // namespace tarsier::linux
