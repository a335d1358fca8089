// Of stacks that differ only in lines, in how they were compiled or in overloads, which the page does not tell apart in
// call chains, the first one that was asked for stands for all: what is collected of them is one.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "analysis/index_table.h"
#include "analysis/model.h"

namespace tarsier::exporting {

class AlikeStacks {
 public:
  // The model may have grown since the last call, but is the same.
  analysis::StackIndex first(const analysis::Model& model, analysis::StackIndex stack) {
    if (of_stack_.size() < model.stacks.size()) of_stack_.resize(model.stacks.size(), kNone);
    path_.clear();
    uint32_t node = stack.value;
    while (node != 0 && node < of_stack_.size() && of_stack_[node] == kNone) {
      path_.push_back(node);
      const uint32_t parent = model.stacks[node].parent.value;
      node = parent < node ? parent : 0;
    }
    uint32_t frame = node != 0 && node < of_stack_.size() ? of_stack_[node] : kNone;
    for (size_t i = path_.size(); i-- > 0;) {
      frame = child(frame, name_of(model, model.stacks[path_[i]].method), path_[i]);
      of_stack_[path_[i]] = frame;
    }
    return frame == kNone ? analysis::StackIndex(0) : analysis::StackIndex(frames_[frame].stack);
  }

 private:
  static constexpr uint32_t kNone = analysis::IndexTable::kNone;
  struct Frame {
    uint32_t parent;  // of frames_; kNone: called by nobody
    uint32_t method;  // the first one of that name
    uint32_t stack;
  };

  uint32_t child(uint32_t parent, uint32_t method, uint32_t stack) {
    const auto next = static_cast<uint32_t>(frames_.size());
    const uint32_t frame = frame_table_.find_or_enter(
        analysis::mix_hash(parent, method), next,
        [&](uint32_t i) { return frames_[i].parent == parent && frames_[i].method == method; },
        [&](uint32_t i) { return analysis::mix_hash(frames_[i].parent, frames_[i].method); });
    if (frame == next) frames_.push_back({parent, method, stack});
    return frame;
  }

  uint32_t name_of(const analysis::Model& model, analysis::MethodIndex method) {
    const auto hash = [&](size_t i) { return std::hash<std::string_view>()(model.methods[i].name); };
    for (size_t i = first_of_name_.size(); i <= method.value; ++i) {
      first_of_name_.push_back(name_table_.find_or_enter(
          hash(i), static_cast<uint32_t>(i),
          [&](uint32_t other) { return model.methods[other].name == model.methods[i].name; }, hash));
    }
    return first_of_name_[method.value];
  }

  std::vector<uint32_t> of_stack_;  // by stack: of frames_, kNone: not asked for yet
  std::vector<Frame> frames_;
  analysis::IndexTable frame_table_;
  std::vector<uint32_t> first_of_name_;  // by method
  analysis::IndexTable name_table_;
  std::vector<uint32_t> path_;  // reused
};

}  // namespace tarsier::exporting
