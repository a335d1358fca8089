// Locks as people call them.
#pragma once

#include <string>

namespace tarsier::analysis {

// ReentrantLock@3ae26333: without the package, and without the class inside that does the work.
std::string short_lock_name(std::string name);

}  // namespace tarsier::analysis
