// Two recordings in one tree: what the page draws a differential flame graph from.
#pragma once

#include "analysis/changes.h"
#include "export/profile_tree.h"

namespace tarsier::exporting {

// By what the weights of `before` have to be multiplied to be comparable with those of `after`.
double scale_of(const analysis::Model& before, const analysis::Model& after, analysis::Profile profile,
                analysis::Per per);

// Nodes of `after` have self, those of `before` have before, scaled; the page merges those of the same callers and
// name, as it merges lines. Names are the stable ones (stable_name.h), and threads of one name are one entry.
// `threads` are those of `after`, and get those that only `before` has.
ProfileTree join_trees(const ProfileTree& after, PageThreads& threads, const ProfileTree& before,
                       const PageThreads& threads_before, double scale);

}  // namespace tarsier::exporting
