// All checks, in the order in which they are shown.
#pragma once

#include <vector>

#include "doctor/finding.h"
#include "doctor/jvm_facts.h"
#include "doctor/machine_facts.h"

namespace tarsier::doctor {

std::vector<Finding> examine(const MachineFacts& machine);
std::vector<Finding> examine(const JvmFacts& jvm, const MachineFacts& machine);

}  // namespace tarsier::doctor
