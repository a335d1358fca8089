// The samples of a recording as one call tree per thread, merged and flat: what the page draws.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/model.h"
#include "base/result.h"

namespace tarsier::exporting {

// The page counts in doubles: no weight, and no sum of weights of one node, goes beyond what they hold exactly.
constexpr int64_t kMaxFlameWeight = (int64_t{1} << 53) - 1;

struct FlameThread {
  uint32_t name = 0;  // index into FlameTree::names
  analysis::ThreadKind kind = analysis::ThreadKind::kApp;
  int64_t os_id = 0;
  int64_t java_id = 0;
  bool is_virtual = false;
  uint32_t merged = 1;  // virtual threads of the same name are one entry
  uint32_t nodes = 0;   // how many of FlameTree::nodes are this thread's
};

struct FlameNode {
  uint32_t depth = 0;  // 0: called by nobody
  uint32_t name = 0;
  recording::FrameType type = recording::FrameType::kJava;
  int32_t line = 0;  // 0: unknown
  int64_t self_ns = 0;
  uint32_t samples = 0;    // with this frame innermost
  uint32_t imprecise = 0;  // of those: in code whose debug information is coarse
  int64_t before_ns = 0;   // of a comparison: what the other recording has; self_ns is then what this one has
};

// Nodes lie thread after thread, each tree depth first with callers before their callees, so that every pass over
// them is one loop. Two frames are one node if caller, method name, line and type agree: overloads and bytecode
// indices are folded. Threads without samples are left out.
//
// CPU time of threads that no engine samples is the last entry, "[not sampled]", with one marker frame for each kind:
// [GC], [JIT], [VM], ...
struct FlameTree {
  std::vector<std::string> names;
  std::vector<FlameThread> threads;
  std::vector<FlameNode> nodes;
  bool compared = false;  // made of two recordings by join_flame_trees()
};

// Fails only if the model contradicts itself (an index out of range, a callee before its caller).
Result<FlameTree> build_flame_tree(const analysis::Model& model);

}  // namespace tarsier::exporting
