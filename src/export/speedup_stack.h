// A picture of where the time of all CPUs went, over the time of the recording: is it my code, the collector, the
// compiler, somebody else, or the hypervisor? One SVG that needs nothing else.
#pragma once

#include <ostream>

#include "analysis/model.h"
#include "base/result.h"

namespace tarsier::exporting {

// kUsage if the recording does not know it.
Status export_speedup_stack(const analysis::Model& model, std::ostream& out);

}  // namespace tarsier::exporting
