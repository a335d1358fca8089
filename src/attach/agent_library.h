// The agent's library, under a path that the target JVM can open.
#pragma once

#include <optional>
#include <string>

#include "attach/jvm.h"
#include "attach/private_directory.h"
#include "base/result.h"

namespace tarsier::attach {

struct AgentLibrary {
  std::string path;                      // as the target sees it
  std::optional<PrivateDirectory> copy;  // removed with this; a loaded library does not mind
};

// `path` itself if the target sees our files and its user may read it, else a copy in the target's /tmp, or where it
// can be executed. A copy of the same build always has the same path: a JVM that still has it loaded then does not load
// it twice.
Result<AgentLibrary> deliver_agent(const Jvm& jvm, const std::string& path);

}  // namespace tarsier::attach
