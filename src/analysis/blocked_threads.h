// How long each thread was blocked by locks.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/model.h"
#include "analysis/selection.h"

namespace tarsier::analysis {

// By thread, ns; empty if nobody looked: then it is not known, not 0. Nor is it of a part of the time, if the recording
// was too large to keep its events.
std::vector<int64_t> blocked_by_thread(const Model& model, const Selection& selection);

}  // namespace tarsier::analysis
