// Asks the command for the kernel's half of sampling, of finding waits and of following who is on which CPU, which the
// JVM's user has no right to make.
#pragma once

#include <cstddef>

#include "base/result.h"
#include "control/channel.h"
#include "linux/kernel_parts.h"
#include "linux/turn_parts.h"
#include "linux/wait_parts.h"

namespace tarsier::agent {

// Before the session has started: nobody else reads from the channel. Null: there is no command.
Result<linux::KernelParts> borrow_kernel_parts(control::Channel* command, const linux::bpf::JavaLayout& layout,
                                               size_t ring_bytes);
Result<linux::WaitParts> borrow_wait_parts(control::Channel* command, const linux::bpf::JavaLayout& layout,
                                           const linux::WaitMemory& memory);
Result<linux::TurnParts> borrow_turn_parts(control::Channel* command);

}  // namespace tarsier::agent
