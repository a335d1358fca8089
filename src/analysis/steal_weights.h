// A CPU profile without what the hypervisor took: where stolen time is part of the threads' CPU time, a sample stands
// for less, the more was stolen from its thread when it was taken.
#pragma once

#include "analysis/model.h"
#include "base/result.h"

namespace tarsier::analysis {

// Of a model with its CPU profile in use: weights and threads' CPU times. kUsage if the recording does not know what
// was stolen.
Status correct_for_steal(Model& model);

}  // namespace tarsier::analysis
