// JVMTI events of the session that runs. A callback may still be under way when a session ends, so it finds its session
// through a gate: once detach() returns, no callback touches it any more.
#pragma once

#include <jvmti.h>

#include "base/result.h"

namespace tarsier::agent {

class Session;

Status install_callbacks(jvmtiEnv* jvmti);
void attach_callbacks(Session& session);
void detach_callbacks();

}  // namespace tarsier::agent
