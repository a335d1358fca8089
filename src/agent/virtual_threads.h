// Finds out where this JVM keeps its virtual threads.
#pragma once

#include <optional>

#include "agent/jvm.h"
#include "hotspot/sigsafe/virtual_thread.h"

namespace tarsier::agent {

// Nothing if this JVM has none; an error if it has some that we don't understand. Session thread. Loads three classes
// of the JDK if they are not, but initialises none: for VirtualThread that would start a thread.
Result<std::optional<hotspot::VirtualThreadLayout>> find_virtual_threads(const Jvm& jvm, bool entries_known);

}  // namespace tarsier::agent
