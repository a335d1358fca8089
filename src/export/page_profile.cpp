// The part `profile-NAME` of the page's data.
#include <algorithm>

#include "export/columns.h"
#include "export/profile_tree.h"

namespace tarsier::exporting {
namespace {

std::vector<std::string> type_names() {
  std::vector<std::string> names;
  names.reserve(static_cast<size_t>(recording::FrameType::kCount));
  for (int i = 0; i < static_cast<int>(recording::FrameType::kCount); ++i) {
    names.emplace_back(recording::frame_type_name(static_cast<recording::FrameType>(i)));
  }
  return names;
}

// How far up from the node before: 0 for a callee of it, 1 for its sibling, ...
std::vector<int64_t> shape_of(const ProfileTree& tree) {
  std::vector<int64_t> up;
  up.reserve(tree.nodes.size());
  size_t next = 0;
  for (const TreeThread& thread : tree.threads) {
    int64_t before = -1;
    for (uint32_t i = 0; i < thread.nodes; ++i) {
      const int64_t depth = tree.nodes[next++].depth;
      up.push_back(before + 1 - depth);
      before = depth;
    }
  }
  return up;
}

template <class Row, class Value>
std::vector<int64_t> column(const std::vector<Row>& rows, Value value) {
  std::vector<int64_t> numbers;
  numbers.reserve(rows.size());
  for (const Row& row : rows) numbers.push_back(static_cast<int64_t>(value(row)));
  return numbers;
}

void put_moments(const ProfileTree& tree, uint32_t moments, ColumnWriter& out) {
  std::vector<int64_t> rows_of(moments);
  // Nodes go up within a moment: differences are shorter than the numbers.
  for (const MomentRow& row : tree.moments) ++rows_of[row.moment];
  out.numbers("moment_rows", rows_of);
  out.differences("moment_node", column(tree.moments, [](const MomentRow& row) { return row.node; }));
  out.numbers("moment_self", column(tree.moments, [](const MomentRow& row) { return row.self; }));
  out.numbers("moment_samples", column(tree.moments, [](const MomentRow& row) { return row.samples; }));
}

}  // namespace

std::string encode_profile_tree(const ProfileTree& tree, uint32_t moments) {
  ColumnWriter out;
  out.texts("types", type_names());
  out.texts("names", tree.names);
  out.numbers("thread", column(tree.threads, [](const TreeThread& thread) { return thread.row; }));
  out.numbers("thread_nodes", column(tree.threads, [](const TreeThread& thread) { return thread.nodes; }));
  out.numbers("up", shape_of(tree));
  out.numbers("node_name", column(tree.nodes, [](const TreeNode& node) { return node.name; }));
  out.numbers("node_type", column(tree.nodes, [](const TreeNode& node) { return node.type; }));
  out.numbers("line", column(tree.nodes, [](const TreeNode& node) { return node.line; }));
  out.numbers("self", column(tree.nodes, [](const TreeNode& node) { return node.self; }));
  out.numbers("samples", column(tree.nodes, [](const TreeNode& node) { return node.samples; }));
  out.sparse("imprecise", column(tree.nodes, [](const TreeNode& node) { return node.imprecise; }));
  if (tree.compared) {
    out.sparse("before", column(tree.nodes, [](const TreeNode& node) { return node.before; }));
  } else {
    put_moments(tree, moments, out);
  }
  return std::move(out).finish();
}

}  // namespace tarsier::exporting
