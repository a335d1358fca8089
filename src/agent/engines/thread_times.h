// The account of a thread's time as events of the recording.
#pragma once

#include <array>
#include <cstdint>

#include "agent/engines/engine.h"
#include "agent/engines/wait_account.h"
#include "recording/thread_time.h"

namespace tarsier::agent {

struct ThreadTimes {
  uint32_t serial = 0;
  std::array<WaitAccount::Sum, static_cast<size_t>(recording::TimePart::kCount)> parts{};

  WaitAccount::Sum& of(recording::TimePart part) { return parts[static_cast<size_t>(part)]; }
};

ThreadTimes times_of(uint32_t serial, const WaitAccount& account);

// Session thread. Nothing if the thread has been forgotten.
void write(EngineContext& context, const ThreadTimes& times);

}  // namespace tarsier::agent
