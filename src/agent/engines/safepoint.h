// The engine `safepoint`: conventional sampling. All threads are stopped at a safepoint every interval, and JVMTI tells
// all their stacks. A baseline, biased by design: docs/handshake.md.
#pragma once

#include <memory>

#include "agent/engines/engine.h"

namespace tarsier::agent {

std::unique_ptr<Engine> make_safepoint_engine(EngineContext& context);

}  // namespace tarsier::agent
