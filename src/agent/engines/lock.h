#pragma once

#include <memory>

#include "agent/engines/engine.h"

namespace tarsier::agent {

// Who is blocked by locks, and who holds them: monitors by JVMTI's events, their owners and java.util.concurrent by
// hooks in the JVM.
std::unique_ptr<Engine> make_lock_engine(EngineContext& context);

}  // namespace tarsier::agent
