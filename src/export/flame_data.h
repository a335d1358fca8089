// The bytes in which a flame tree travels into the page (read by ui/src/data/decode.ts, which mirrors this).
//
//   "tarsier-flame-1\n"
//   table   types      frame type names; a node's type is an index into it
//   table   names      UTF-8; threads and nodes refer to it
//   count   threads    then for each: name, kind, os id, java id, virtual (0 or 1), merged, nodes
//   count   nodes      then one column after the other, each with one value for each node:
//             up         1 + depth of the node before (0 at a thread's first node) - depth: 0 for a callee of it,
//                        1 for its sibling, ...
//             name, type, line, self_ns, samples
//   count   imprecise  then for each: distance to the node before with any (from -1), samples
//   count   before     of comparisons only, else the data ends here; then for each: distance as above, ns
//
// A table is a count, that many byte lengths, then the bytes of all entries without a gap. All numbers are varints of
// base/varint.h, at most 2^53 - 1, so a million nodes take about 9 MB.
#pragma once

#include <string>

#include "export/flame_tree.h"

namespace tarsier::exporting {

std::string encode_flame_tree(const FlameTree& tree);

}  // namespace tarsier::exporting
