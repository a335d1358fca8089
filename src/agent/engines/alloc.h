#pragma once

#include <memory>

#include "agent/engines/engine.h"

namespace tarsier::agent {

// Who allocates what: objects sampled by the JVM itself (JVMTI SampledObjectAlloc, 11 and later).
std::unique_ptr<Engine> make_alloc_engine(EngineContext& context);

}  // namespace tarsier::agent
