// Contentions of java.util.concurrent: parks, with the unparks that ended them.
#pragma once

#include "analysis/contention.h"
#include "analysis/lock_code.h"

namespace tarsier::analysis {

// Thread by thread. A park that is there twice counts once.
void park_contentions(const LockEvents& events, const LockCode& code, size_t threads, PieceBudget& budget,
                      const ContentionSink& sink);

}  // namespace tarsier::analysis
