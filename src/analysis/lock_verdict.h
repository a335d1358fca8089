// The verdict's sentence about locks.
#pragma once

#include <string>

#include "analysis/model.h"

namespace tarsier::analysis {

// ReentrantLock@3ae26333: without the package, and without the class inside that does the work.
std::string short_lock_name(std::string name);

// Empty if threads hardly ever waited for locks.
std::string lock_verdict(const Model& model);

}  // namespace tarsier::analysis
