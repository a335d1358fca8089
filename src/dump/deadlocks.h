// Who holds what others wait for, and who waits for one another in a circle. Worked out from each thread's locks, not
// from what the JVM says about deadlocks: that counts waits that end by themselves, too.
#pragma once

#include <optional>
#include <vector>

#include "dump/thread_dump.h"

namespace tarsier::dump {

struct Holder {
  size_t thread = 0;            // index into ThreadDump::threads
  std::optional<size_t> frame;  // of its frames: the outermost that has entered the lock
};

// By thread: who holds what it waits for. None: it waits for nothing that can be held, or the dump does not say by whom
// (a virtual thread, native code, a semaphore).
std::vector<std::optional<Holder>> find_holders(const ThreadDump& dump);

// Threads (indices) of which each waits, without an end, for what the next one holds, and the last for the first.
using Deadlock = std::vector<size_t>;
std::vector<Deadlock> find_deadlocks(const ThreadDump& dump, const std::vector<std::optional<Holder>>& holders);

}  // namespace tarsier::dump
