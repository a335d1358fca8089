// The samples of one kind as one call tree per thread, merged and flat, and when they were: what the page draws.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/model.h"
#include "base/result.h"
#include "export/page_threads.h"
#include "export/page_time.h"

namespace tarsier::exporting {

// Of trees with more nodes the lightest are taken together, below their callers: at most one for each that is left.
constexpr size_t kMostTreeNodes = 1'000'000;
constexpr std::string_view kTogether = "[smaller]";

struct TreeThread {
  uint32_t row = 0;    // of PageThreads
  uint32_t nodes = 0;  // how many of ProfileTree::nodes are this thread's
};

struct TreeNode {
  uint32_t depth = 0;  // 0: called by nobody
  uint32_t name = 0;
  recording::FrameType type = recording::FrameType::kJava;
  int32_t line = 0;        // 0: unknown
  int64_t self = 0;        // ns, or bytes
  uint32_t samples = 0;    // with this frame innermost
  uint32_t imprecise = 0;  // of those: in code whose debug information is coarse
  int64_t before = 0;      // of a comparison: what the other recording has; self is then what this one has
};

// What a node got in a moment.
struct MomentRow {
  uint32_t moment = 0;
  uint32_t node = 0;
  int64_t self = 0;
  uint32_t samples = 0;
};

// Nodes lie thread after thread, each tree depth first with callers before their callees, so that every pass over
// them is one loop. Two frames are one node if caller, method name, line and type agree: overloads and bytecode
// indices are folded. Threads without samples are left out.
//
// CPU time of threads that no engine samples is the last entry, "[not sampled]", with one marker frame for each kind:
// [GC], [JIT], [VM], ...
struct ProfileTree {
  std::vector<std::string> names;
  std::vector<TreeThread> threads;
  std::vector<TreeNode> nodes;
  std::vector<MomentRow> moments;  // by moment and node
  int64_t together = 0;            // weight of what was taken together, as kTogether
  bool compared = false;           // made of two recordings by join_trees()
};

// The stacks of a model with bytecode indices and overloads folded; one tree for all threads and profiles.
class FoldedStacks {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Frame {
    uint32_t parent;  // kNone: called by nobody
    uint32_t name;    // of names
    int32_t line;
    recording::FrameType type;
    bool operator==(const Frame&) const = default;
  };

  // Fails only if the model contradicts itself (an index out of range, a callee before its caller).
  static Result<FoldedStacks> make(const analysis::Model& model);

  std::vector<std::string> names;
  std::vector<Frame> frames;       // callers first; the last one is [no stack], for samples without any frame
  std::vector<uint32_t> of_stack;  // by StackIndex
};

// Fails only if the model contradicts itself. Moments become longer if there are more than `most_rows` rows by moment,
// unless there is only one left. Without a time there are none.
Result<ProfileTree> build_profile_tree(const analysis::Model& model, analysis::Profile profile,
                                       const FoldedStacks& stacks, const PageThreads& threads, PageTime* time,
                                       size_t most_nodes = kMostTreeNodes, size_t most_rows = kMostMomentRows);
// Of a tree that was made with shorter moments: `ratio` of them are one now.
void join_moments(std::vector<MomentRow>& rows, int64_t ratio);

// The part `profile-NAME`.
std::string encode_profile_tree(const ProfileTree& tree, uint32_t moments);

}  // namespace tarsier::exporting
