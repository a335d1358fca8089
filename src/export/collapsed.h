// One line per distinct stack, as flame graph tools read it:
//
//   java.lang.Thread.run;demo.Main.loop;demo.Main.hot 1234
//
// Outermost frame first. The number counts samples, since those tools show it as such; if samples weigh differently it
// is the weight in units of the recording's mean sample, rounded, at least 1. Of allocation it is bytes, and the
// innermost frame is the class. CPU time that no engine sampled is there in the same unit: [GC], [JIT], [VM]. Heavier
// branches come first.
#pragma once

#include <ostream>

#include "analysis/model.h"
#include "base/result.h"

namespace tarsier::exporting {

// Fails if the stream does.
Status export_collapsed(const analysis::Model& model, std::ostream& out);

}  // namespace tarsier::exporting
