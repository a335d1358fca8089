// Where the function of a native Java method lies, whatever it is called.
#pragma once

#include "agent/jvm.h"
#include "base/memory.h"

namespace tarsier::agent {

// Session thread. 0: there is no such method, or this JVM does not tell.
Address native_function_of(const Jvm& jvm, const char* class_name, const char* method, const char* signature);

}  // namespace tarsier::agent
