// The engine `fragment` with the clocks `ebpf` and `perf-rings`: the kernel copies the stack fragments, the session's
// thread decodes them.
#pragma once

#include <memory>
#include <string_view>

#include "agent/engines/engine.h"

namespace tarsier::agent {

std::unique_ptr<Engine> make_kernel_engine(EngineContext& context, std::string_view clock);

}  // namespace tarsier::agent
