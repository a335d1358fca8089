// From an entry point to a running session.
#pragma once

#include <jni.h>

#include "base/result.h"
#include "control/options.h"

namespace tarsier::agent {

// Starts a session on a thread of its own. If one runs already, whoever asks is told who and how long.
Status launch(JavaVM* vm, const control::AgentString& options);

// At the start of the JVM: launches as soon as the JVM can run Java code. Precise debug information is on from here.
Status launch_at_vm_init(JavaVM* vm, const control::AgentString& options);

}  // namespace tarsier::agent
