// Counts what perf can count, in every thread of the process: cycles, cache misses, context switches. The JVM's own
// threads, too: those are found by looking, once a second.
#pragma once

#include <memory>

#include "agent/engines/engine.h"

namespace tarsier::agent {

std::unique_ptr<Engine> make_counters_engine(EngineContext& context);

}  // namespace tarsier::agent
