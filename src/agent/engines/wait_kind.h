// What a thread waits for, as far as its stack and its state tell.
#pragma once

#include <cstdint>
#include <string_view>

#include "hotspot/methods.h"

namespace tarsier::agent {

// `innermost`: its innermost Java method, null if there is none. `in_native`: it is a native method, and the thread is
// in it rather than in the JVM.
//
//   sleeping   Thread.sleep
//   parked     LockSupport.park: locks, queues and pools of java.util.concurrent
//   waiting    Object.wait
//   monitor    to enter a synchronized block or method
//   io         in a native method of the JDK's networks and files
//   native     in native code of anybody else's
//   vm         in the JVM: for a safepoint, a collection, a class to be initialised
std::string_view kind_of_wait(const hotspot::MethodInfo* innermost, bool in_native, bool wants_monitor);

}  // namespace tarsier::agent
