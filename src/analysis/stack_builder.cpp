#include "analysis/stack_builder.h"

#include <algorithm>
#include <functional>

namespace tarsier::analysis {
namespace {

uint64_t hash_text(std::string_view name, std::string_view descriptor) {
  return mix_hash(std::hash<std::string_view>()(name), std::hash<std::string_view>()(descriptor));
}

uint64_t hash_node(const StackNode& node) {
  const uint64_t place =
      static_cast<uint64_t>(static_cast<uint32_t>(node.line)) << 32 | static_cast<uint32_t>(node.bci);
  const uint64_t edge = static_cast<uint64_t>(node.parent.value) << 32 | node.method.value;
  return mix_hash(mix_hash(static_cast<uint64_t>(node.type), place), edge);
}

bool same_node(const StackNode& a, const StackNode& b) {
  return a.parent == b.parent && a.method == b.method && a.line == b.line && a.bci == b.bci && a.type == b.type;
}

}  // namespace

StackBuilder::StackBuilder(Model& model) : model_(model) {
  if (model_.stacks.empty()) model_.stacks.emplace_back();
}

MethodIndex StackBuilder::method(std::string_view class_name, std::string_view name, std::string_view descriptor) {
  if (class_name.empty()) descriptor = {};  // not Java; files must say something, and say ()V
  name_ = class_name;
  std::replace(name_.begin(), name_.end(), '/', '.');
  if (!name_.empty() && !name.empty()) name_ += '.';
  name_ += name;
  if (name_.empty()) name_ = "[unnamed]";

  auto& methods = model_.methods;
  const auto next = static_cast<uint32_t>(methods.size());
  const uint32_t index = method_table_.find_or_enter(
      hash_text(name_, descriptor), next,
      [&](uint32_t i) { return methods[i].name == name_ && methods[i].descriptor == descriptor; },
      [&](uint32_t i) { return hash_text(methods[i].name, methods[i].descriptor); });
  if (index == next) methods.push_back({name_, std::string(descriptor)});
  return MethodIndex(index);
}

StackIndex StackBuilder::child(StackIndex parent, const StackNode& frame) {
  auto& stacks = model_.stacks;
  if (stacks.size() >= kMaxNodes) return parent;
  StackNode node = frame;
  node.parent = parent;
  const auto next = static_cast<uint32_t>(stacks.size());
  const uint32_t index = stack_table_.find_or_enter(
      hash_node(node), next, [&](uint32_t i) { return same_node(stacks[i], node); },
      [&](uint32_t i) { return hash_node(stacks[i]); });
  if (index == next) stacks.push_back(node);
  return StackIndex(index);
}

StackIndex StackBuilder::stack(std::span<const StackNode> frames, bool truncated) {
  if (frames.size() > kMaxDepth) {
    frames = frames.first(kMaxDepth);
    truncated = true;
  }
  StackIndex node;
  const bool marked = !frames.empty() && frames.back().type == FrameType::kMarker;
  if (truncated && !frames.empty() && !marked) node = marker_stack(kDeeper);
  for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) node = child(node, *frame);
  return node;
}

}  // namespace tarsier::analysis
