// Two recordings in one flame tree: what the page draws a differential flame graph from.
#pragma once

#include "analysis/changes.h"
#include "export/flame_tree.h"

namespace tarsier::exporting {

// By what the weights of `before` have to be multiplied to be comparable with those of `after`.
double scale_of(const analysis::Model& before, const analysis::Model& after, analysis::Per per);

// Nodes of `after` have self_ns, those of `before` have before_ns, scaled; the page merges those of the same callers
// and name, as it merges lines. Names are the stable ones (stable_name.h), and threads of one name are one entry.
FlameTree join_flame_trees(const FlameTree& after, const FlameTree& before, double scale);

}  // namespace tarsier::exporting
