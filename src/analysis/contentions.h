// All contentions of a recording, or of the selected threads and time, one after the other: they are worked out anew
// each time, since their pieces may need more memory than the recording.
#pragma once

#include "analysis/contention.h"
#include "analysis/lock_code.h"
#include "analysis/model.h"
#include "analysis/selection.h"

namespace tarsier::analysis {

// Of contentions that are only partly in the selected time, that part.
void for_each_contention(const Model& model, const LockCode& code, const Selection& selection,
                         const ContentionSink& sink, PieceBudget budget = PieceBudget());

}  // namespace tarsier::analysis
