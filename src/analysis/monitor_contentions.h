// Contentions of Java's monitors.
#pragma once

#include "analysis/contention.h"

namespace tarsier::analysis {

// Period by period; the order of the events in the file decides only about the order of the periods. A contention that
// is there twice counts once.
void monitor_contentions(const LockEvents& events, PieceBudget& budget, const ContentionSink& sink);

}  // namespace tarsier::analysis
