// The calling contexts of several recordings in one tree: what is the same in two of them is one node of it, so every
// comparison is a loop over columns.
//
// Nodes are the same by the rules of Zhuang et al. (PLDI 2006): roots are; others are if they stand for the same method
// and their callers are the same. Methods are the same if their names are, by stable_name(). An edge is the same if
// both its ends are; since every node but the root has one edge towards its caller, a column of nodes is one of edges
// too.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analysis/model.h"

namespace tarsier::analysis {

struct JointNode {
  uint32_t parent = 0;
  uint32_t label = 0;
};

struct JointTree {
  static constexpr uint32_t kNoNode = UINT32_MAX;

  std::vector<std::string> labels;
  std::vector<JointNode> nodes;  // 0: the root, [all]; callers before their callees
  // By recording, then by node: what was spent in this context itself. That is the weight of the edge that leads to it.
  std::vector<std::vector<double>> self;
  // By recording, then by stack of its model; kNoNode for stacks without samples.
  std::vector<std::vector<uint32_t>> node_of_stack;

  [[nodiscard]] const std::string& name(uint32_t node) const { return labels[nodes[node].label]; }
};

// Of samples only: what no engine sampled ([GC] ...) has no calling contexts. Threads are merged.
JointTree join_trees(std::span<const Model> models, bool signatures = false);

}  // namespace tarsier::analysis
