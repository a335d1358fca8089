// The accounts of threads' times as events of the recording.
#pragma once

#include <cstdint>

#include "agent/engines/engine.h"
#include "agent/engines/wait_account.h"

namespace tarsier::agent {

// Session thread. Nothing if the thread has been forgotten.
void write_thread_times(EngineContext& context, uint32_t serial, const WaitAccount& account);

}  // namespace tarsier::agent
