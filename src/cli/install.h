// Where the command's own parts lie.
#pragma once

#include <string>

#include "base/result.h"

namespace tarsier::cli {

// libtarsier.so, real path: beside the command (links resolved), one folder up, or in ../lib.
Result<std::string> find_agent_library();

}  // namespace tarsier::cli
