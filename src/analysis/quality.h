// How far the samples can be trusted.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "analysis/selection.h"

namespace tarsier::analysis {

struct Quality {
  uint64_t samples = 0;                    // = complete + incomplete + sum of failed
  uint64_t complete = 0;                   // stack walked to its end
  uint64_t incomplete = 0;                 // outer frames are missing
  std::map<std::string, uint64_t> failed;  // by cause
  uint64_t imprecise = 0;                  // innermost line and inlining may be wrong; of any of the above
  int64_t weight = 0, failed_weight = 0, imprecise_weight = 0;  // ns
  std::map<std::string, uint64_t> by_mechanism;                 // samples written, of the whole recording
  uint64_t edges = 0;                                           // distinct pairs of caller and callee in the stacks
};

Quality assess_quality(const Model& model, const Selection& selection);

}  // namespace tarsier::analysis
