#pragma once

#include <string>
#include <vector>

#include "analysis/model.h"

namespace tarsier::exporting {

// What a profile must say about itself: who recorded it and how, what was dropped, what the reader had to skip. A line
// each.
std::vector<std::string> pprof_comments(const analysis::Model& model);

}  // namespace tarsier::exporting
