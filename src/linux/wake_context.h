// How the kernel tells whether it serves an interrupt, and on whose behalf: for the program that notes who has woken a
// thread (bpf/wake_context.h). By the kernel's own description of its types, and by where its functions are
// (/proc/kallsyms). What can't be found stays unknown, and the program says so of the wakers that it takes.
#pragma once

#include <string>

#include "linux/bpf/fragment_layout.h"
#include "linux/kernel_types.h"

namespace tarsier::linux {

// `types`: null if the kernel does not describe them.
bpf::WakeContext find_wake_context(const KernelTypes* types, const std::string& symbols = "/proc/kallsyms");

}  // namespace tarsier::linux
