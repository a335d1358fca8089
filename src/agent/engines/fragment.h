// The engine `fragment`: the interrupted thread only copies a piece of its stack, the session's thread decodes it.
#pragma once

#include <memory>

#include "agent/engines/engine.h"

namespace tarsier::agent {

std::unique_ptr<Engine> make_fragment_engine(EngineContext& context);

}  // namespace tarsier::agent
