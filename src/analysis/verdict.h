// A recording in about five plain sentences, then what to be wary of.
#pragma once

#include <string>
#include <vector>

#include "analysis/model.h"

namespace tarsier::analysis {

// About the whole recording, whatever part a view shows. Names are as in the recording: whoever prints them on a
// terminal makes them harmless first.
std::vector<std::string> verdict(const Model& model);

}  // namespace tarsier::analysis
