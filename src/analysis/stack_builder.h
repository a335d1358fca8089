// Builds the methods and the stack tree of a model: equal methods and equal stacks get one entry, over all chunks.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/index_table.h"
#include "analysis/model.h"

namespace tarsier::analysis {

class StackBuilder {
 public:
  // Deeper stacks lose their outer frames and count as truncated. Far above what any profiler writes.
  static constexpr size_t kMaxDepth = 1 << 18;
  // A file that needs more nodes loses inner frames; indices stay below 2^30, so that their users have bits to spare.
  static constexpr uint32_t kMaxNodes = (1U << 30) - 1;
  static constexpr std::string_view kDeeper = "[deeper]";

  explicit StackBuilder(Model& model);

  // Slashes become dots, also before the address of a hidden class (Foo$$Lambda.0x0000000801003200): as the JDK's jfr
  // tool prints them, so that names can be compared.
  MethodIndex method(std::string_view class_name, std::string_view name, std::string_view descriptor);
  MethodIndex marker(std::string_view name) { return method({}, name, {}); }

  // `frames` innermost first, their parent fields unused. A truncated stack gets [deeper] as its outermost frame, so
  // that its frames don't pose as entry points.
  StackIndex stack(std::span<const StackNode> frames, bool truncated);
  // An object's class on top of the stack that allocated it.
  StackIndex with_class(StackIndex stack, MethodIndex klass) {
    return child(stack, {.parent = {}, .method = klass, .type = FrameType::kClass});
  }
  StackIndex with_frame(StackIndex stack, const StackNode& frame) { return child(stack, frame); }
  StackIndex marker_stack(std::string_view name) {
    return child(StackIndex(0), {.parent = {}, .method = marker(name), .type = FrameType::kMarker});
  }

 private:
  StackIndex child(StackIndex parent, const StackNode& frame);

  Model& model_;
  IndexTable method_table_;
  IndexTable stack_table_;
  std::string name_;  // reused
};

}  // namespace tarsier::analysis
