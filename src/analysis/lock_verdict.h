// The verdict's sentences about locks.
#pragma once

#include <string>

#include "analysis/model.h"

namespace tarsier::analysis {

struct LockVerdict {
  std::string waiting;  // who suffers, who holds the lock; empty if threads hardly ever waited for locks
  std::string root;     // who is to blame in the end; empty if that is hardly ever anybody else than who held the lock
};
LockVerdict lock_verdict(const Model& model);

}  // namespace tarsier::analysis
