// The reverse tree: below the root the hottest methods by self time, below each the methods that called it.
#pragma once

#include "analysis/cct.h"

namespace tarsier::analysis {

struct CallerLimits {
  // Lighter nodes are left out; less than kMinShare is taken as kMinShare, because a reverse tree shares nothing and
  // would grow with the sum of all depths.
  double min_share = 0.01;
  uint32_t max_depth = 400;
  static constexpr double kMinShare = 0.0001;
};

// As a Cct, with callers as children; what was not sampled stands at the top too. A node's total is the self time that
// reached it; its self is the part that has no further caller.
Cct build_callers(const Model& model, const WeightedStacks& weights, Labels labels, const CallerLimits& limits,
                  const std::map<ThreadKind, Nanos>& unsampled);

}  // namespace tarsier::analysis
