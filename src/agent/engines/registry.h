// Which engines there are. A new one is a line in registry.cpp.
#pragma once

#include <memory>
#include <vector>

#include "agent/engines/engine.h"

namespace tarsier::agent {

// The engines that the options ask for; an unknown name is a usage error that lists the known ones.
Result<std::vector<std::unique_ptr<Engine>>> make_engines(EngineContext& context);

}  // namespace tarsier::agent
