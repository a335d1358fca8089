#pragma once

#include <memory>

#include "agent/engines/engine.h"

namespace tarsier::agent {

// CPU sampling by AsyncGetCallTrace.
std::unique_ptr<Engine> make_agct_engine(EngineContext& context);

}  // namespace tarsier::agent
