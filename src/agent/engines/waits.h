// The engine `waits`: waiting periods with their call chain and true length.
#pragma once

#include <memory>

#include "agent/engines/engine.h"

namespace tarsier::agent {

std::unique_ptr<Engine> make_waits_engine(EngineContext& context);

}  // namespace tarsier::agent
