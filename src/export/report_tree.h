// A tree as text and as JSON, whichever way it was built. Both walk it without recursion: stacks of 100,000 frames and
// more are fine.
#pragma once

#include <string>

#include "analysis/cct.h"

namespace tarsier::exporting {

// Parsers recurse (Python's json gives up after about 500 such levels): below this depth a node's children are
// summed up in one marker, [deeper].
constexpr uint32_t kMaxJsonDepth = 400;

// {"method", "type", "line", "weight", "self", "children"} from the root on, without nodes lighter than `min_share`.
std::string tree_as_json(const analysis::Cct& cct, double min_share);

// One line per node: total, self, name. A line that starts with + is one of several callees of the line it is indented
// under; a line without is the only one that is shown of the line above it.
std::string tree_as_text(const analysis::Cct& cct, double min_share);

}  // namespace tarsier::exporting
