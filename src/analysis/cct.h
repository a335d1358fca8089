// The calling context tree: for every chain of callers, how much CPU time was spent in it and below it.
//
// Nodes are merged by method: the lines and frame types that went into one are shown by the heaviest of them, since a
// method split over its lines is what nobody looks for in a tree. CPU time that no engine sampled stands beside the
// entry points as [GC], [JIT], [VM] ... with the weight that the kernel accounts for.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analysis/labels.h"
#include "analysis/model.h"
#include "analysis/selection.h"

namespace tarsier::analysis {

struct CctNode {
  uint32_t parent = 0;
  uint32_t first_child = 0;   // 0: none; children by falling total, then by name
  uint32_t next_sibling = 0;  // 0: none
  uint32_t label = 0;
  int32_t line = 0;  // 0: unknown
  FrameType type = FrameType::kMarker;
  int64_t self = 0;  // ns
  int64_t total = 0;
  uint64_t samples = 0;  // that ended here
};

struct Cct {
  Labels labels;
  std::vector<CctNode> nodes;    // 0: the root, [all]; parents before children
  uint32_t first_unsampled = 0;  // nodes from here on were not sampled
  int64_t sampled_weight = 0;    // of nodes[0].total
  double effective_samples = 0;

  [[nodiscard]] const std::string& name(const CctNode& node) const { return labels.names[node.label]; }
};

// With weights that were split by thread, threads are the nodes below the root.
Cct build_cct(const Model& model, const WeightedStacks& weights, Labels labels, bool by_thread,
              const std::map<ThreadKind, Nanos>& unsampled);

// Ends the sampled part of the tree and appends the roots of what was not sampled.
void add_unsampled_roots(Cct& cct, const std::map<ThreadKind, Nanos>& unsampled);

// Sets first_child and next_sibling from parent, in the order promised above.
void link_children(Cct& cct);

// Of one node: the line and the frame type that carry most of its weight. Any number of parts per node.
struct NodePart {
  uint32_t node = 0;
  int32_t line = 0;
  FrameType type = FrameType::kJava;
  int64_t weight = 0;
};
void set_heaviest_line_and_type(Cct& cct, std::vector<NodePart> parts);

}  // namespace tarsier::analysis
