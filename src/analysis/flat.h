// The flat profile: which methods are hot, whoever calls them.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/cct.h"
#include "analysis/confidence.h"

namespace tarsier::analysis {

struct HotMethod {
  uint32_t label = 0;    // of the tree's labels
  int64_t self = 0;      // ns
  int64_t total = 0;     // counted once per stack, however often the method is on it
  uint64_t samples = 0;  // with it innermost
  Interval self_ci95;    // of its share of the whole weight
};

// Shares are of the whole tree, cct.nodes[0].total. What was not sampled is there too, as [GC], [JIT], ...: measured,
// so its interval is a point. Hottest (self, then total) first, equal ones by name.
std::vector<HotMethod> flat_profile(const Cct& cct);

}  // namespace tarsier::analysis
