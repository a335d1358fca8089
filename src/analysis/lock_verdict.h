// The verdict's sentences about locks.
#pragma once

#include <string>

#include "analysis/model.h"

namespace tarsier::analysis {

// Empty if threads hardly ever waited for locks.
std::string lock_verdict(const Model& model);
// Who is to blame in the end; empty if that is hardly ever anybody else than who held the lock.
std::string root_cause_verdict(const Model& model);

}  // namespace tarsier::analysis
