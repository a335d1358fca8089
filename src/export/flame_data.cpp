#include "export/flame_data.h"

#include <algorithm>
#include <string_view>

#include "base/varint.h"

namespace tarsier::exporting {
namespace {

class Bytes {
 public:
  void number(int64_t value) {
    uint8_t buffer[kMaxVarint];
    const auto safe = static_cast<uint64_t>(std::clamp<int64_t>(value, 0, kMaxFlameWeight));
    out_.append(reinterpret_cast<const char*>(buffer), put_varint(buffer, safe));
  }

  template <class Texts>
  void table(const Texts& texts) {
    number(static_cast<int64_t>(texts.size()));
    for (const auto& text : texts) number(static_cast<int64_t>(text.size()));
    for (const auto& text : texts) out_.append(text);
  }

  void raw(std::string_view text) { out_.append(text); }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

std::vector<std::string_view> type_names() {
  std::vector<std::string_view> names;
  names.reserve(static_cast<size_t>(recording::FrameType::kCount));
  for (int i = 0; i < static_cast<int>(recording::FrameType::kCount); ++i) {
    names.push_back(recording::frame_type_name(static_cast<recording::FrameType>(i)));
  }
  return names;
}

void put_threads(const std::vector<FlameThread>& threads, Bytes& out) {
  out.number(static_cast<int64_t>(threads.size()));
  for (const FlameThread& thread : threads) {
    for (const int64_t value : {int64_t{thread.name}, static_cast<int64_t>(thread.kind), thread.os_id, thread.java_id,
                                int64_t{thread.is_virtual}, int64_t{thread.merged}, int64_t{thread.nodes}}) {
      out.number(value);
    }
  }
}

void put_shape(const FlameTree& tree, Bytes& out) {
  size_t next = 0;
  for (const FlameThread& thread : tree.threads) {
    int64_t before = -1;
    for (uint32_t i = 0; i < thread.nodes; ++i) {
      const int64_t depth = tree.nodes[next++].depth;
      out.number(before + 1 - depth);
      before = depth;
    }
  }
}

// A column in which most nodes have nothing.
template <class Value>
void put_sparse(const std::vector<FlameNode>& nodes, Value FlameNode::*column, Bytes& out) {
  out.number(std::count_if(nodes.begin(), nodes.end(), [&](const FlameNode& node) { return node.*column != 0; }));
  int64_t before = -1;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].*column == 0) continue;
    out.number(static_cast<int64_t>(i) - before);
    out.number(nodes[i].*column);
    before = static_cast<int64_t>(i);
  }
}

}  // namespace

std::string encode_flame_tree(const FlameTree& tree) {
  Bytes out;
  out.raw("tarsier-flame-1\n");
  out.table(type_names());
  out.table(tree.names);
  put_threads(tree.threads, out);
  out.number(static_cast<int64_t>(tree.nodes.size()));
  put_shape(tree, out);
  for (const FlameNode& node : tree.nodes) out.number(node.name);
  for (const FlameNode& node : tree.nodes) out.number(static_cast<int64_t>(node.type));
  for (const FlameNode& node : tree.nodes) out.number(node.line);
  for (const FlameNode& node : tree.nodes) out.number(node.self_ns);
  for (const FlameNode& node : tree.nodes) out.number(node.samples);
  put_sparse(tree.nodes, &FlameNode::imprecise, out);
  if (tree.compared) put_sparse(tree.nodes, &FlameNode::before_ns, out);
  return out.take();
}

}  // namespace tarsier::exporting
