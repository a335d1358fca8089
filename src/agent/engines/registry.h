// Which engines there are. A new one is a line in registry.cpp.
#pragma once

#include <memory>
#include <vector>

#include "agent/engines/engine.h"

namespace tarsier::agent {

// The engines that the options ask for; an unknown name is a usage error that lists the known ones.
Result<std::vector<std::unique_ptr<Engine>>> make_engines(EngineContext& context);
// What to try instead of one that can't run here; null if there is nothing, or if it was asked for by name.
std::unique_ptr<Engine> make_next_best(EngineContext& context, const Engine& failed);

}  // namespace tarsier::agent
