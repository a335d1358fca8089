// What a thread waits for, as far as its stack and its state tell.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "hotspot/methods.h"

namespace tarsier::agent {

struct WaitState {
  bool in_native = false;      // the thread is in a native method rather than in the JVM
  bool wants_monitor = false;  // another thread has it
  // As the kernel tells; of waits that it has not told of both are false.
  bool uninterruptible = false;
  bool page_fault = false;
};

// `frames`: the innermost Java methods, innermost first; a null is one that is not known. There may be none.
//
//   sleeping     Thread.sleep
//   parked       LockSupport.park: locks, queues and pools of java.util.concurrent
//   waiting      Object.wait
//   monitor      to enter a synchronized block or method
//   socket, file, pipe, selector
//                in a native method of the JDK's networks and files, by what the methods around it work on
//   io           likewise, if they don't tell: a FileInputStream may read a file, a pipe or a terminal
//   page fault   for memory that has to be read from a disk first
//   native       in native code of anybody else's
//   vm           in the JVM: for a safepoint, a collection, a class to be initialised
std::string_view kind_of_wait(std::span<const hotspot::MethodInfo* const> frames, const WaitState& state);

// More frames than this are not looked at.
constexpr size_t kFramesOfKind = 8;

}  // namespace tarsier::agent
