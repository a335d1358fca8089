// Models by hand, for tests: stacks are written outermost first, "main;a;b".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/model.h"
#include "analysis/stack_builder.h"

namespace tarsier::analysis {

class ModelMaker {
 public:
  ModelMaker() : stacks_(model) {
    model.start_ns = 1'000'000'000'000'000'000;
    model.duration = seconds(10);
  }
  ModelMaker(const ModelMaker&) = delete;
  ModelMaker& operator=(const ModelMaker&) = delete;

  ThreadIndex thread(const std::string& name, ThreadKind kind = ThreadKind::kApp, bool sampled = true) {
    Thread added;
    added.os_id = 100 + static_cast<int64_t>(model.threads.size());
    added.java_id = kind == ThreadKind::kApp ? added.os_id : 0;
    added.name = name;
    added.kind = kind;
    added.sampled = sampled;
    model.threads.push_back(added);
    return ThreadIndex(static_cast<uint32_t>(model.threads.size() - 1));
  }

  // A frame may end in ":LINE".
  StackIndex stack(std::string_view frames, FrameType type = FrameType::kC2) {
    std::vector<StackNode> nodes;
    while (!frames.empty()) {
      std::string_view frame = frames.substr(0, frames.find(';'));
      frames.remove_prefix(std::min(frames.size(), frame.size() + 1));
      StackNode node;
      if (const size_t colon = frame.rfind(':'); colon != std::string_view::npos && frame.back() != ']') {
        node.line = std::stoi(std::string(frame.substr(colon + 1)));
        frame = frame.substr(0, colon);
      }
      node.method = stacks_.method({}, frame, {});
      node.type = frame.starts_with("[") ? FrameType::kMarker : type;
      nodes.insert(nodes.begin(), node);
    }
    return stacks_.stack(nodes, false);
  }

  void sample(ThreadIndex thread, std::string_view frames, int64_t weight, Nanos at = Nanos(0)) {
    model.samples.push_back({.time_ns = model.start_ns + at.count,
                             .thread = thread,
                             .stack = stack(frames),
                             .weight = weight,
                             .failed = frames.starts_with("[failed")});
  }

  Model model;

  StackBuilder& builder() { return stacks_; }

 private:
  StackBuilder stacks_;
};

}  // namespace tarsier::analysis
