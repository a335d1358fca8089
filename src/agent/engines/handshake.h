// The engine `handshake`: threads that have run lately are asked for their stacks, each by a handshake with the JVM
// that stops nobody else, several at a time. See docs/handshake.md.
#pragma once

#include <memory>

#include "agent/engines/engine.h"

namespace tarsier::agent {

std::unique_ptr<Engine> make_handshake_engine(EngineContext& context);

}  // namespace tarsier::agent
