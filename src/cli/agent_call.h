// Getting a running JVM's agent to call.
#pragma once

#include <string>

#include "attach/jvm.h"
#include "attach/load.h"
#include "base/result.h"
#include "cli/signals.h"
#include "control/channel.h"

namespace tarsier::cli {

struct AgentCall {
  control::Channel channel;
  attach::PendingLoad load;  // kept until the end: the JVM answers it when it likes
};

// What the target sees of us, the socket and maybe a copy of the agent, is gone again when this returns.
Result<AgentCall> call_agent(const attach::Jvm& jvm, const std::string& library, Signals& signals);

// Says what went wrong with this JVM, and who knows more; the exit code.
int fail_with(Error error, const attach::Jvm& jvm);

}  // namespace tarsier::cli
