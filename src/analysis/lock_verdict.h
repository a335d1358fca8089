// The verdict's sentence about locks.
#pragma once

#include <string>

#include "analysis/model.h"

namespace tarsier::analysis {

// Empty if threads hardly ever waited for locks.
std::string lock_verdict(const Model& model);

}  // namespace tarsier::analysis
