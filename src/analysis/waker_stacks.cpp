#include "analysis/waker_stacks.h"

#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "analysis/stack_builder.h"

namespace tarsier::analysis {
namespace {

class WakerStacks {
 public:
  explicit WakerStacks(Model& model) : model_(model), builder_(model) {}

  StackIndex with_waker(StackIndex blocked, const WaitInfo& wait) {
    const uint32_t who = wait.woken_by == WokenBy::kProcess ? wait.process : wait.waker.value;
    const auto [known, is_new] = known_.try_emplace({blocked, wait.waker_stack, wait.woken_by, who, wait.has_waker});
    if (is_new) known->second = build(blocked, wait);
    return known->second;
  }

 private:
  StackIndex build(StackIndex blocked, const WaitInfo& wait) {
    switch (wait.woken_by) {
      case WokenBy::kThread:
      case WokenBy::kJvm:
        break;
      case WokenBy::kProcess:
        return add(add(blocked, "[woken by]"), "[process " + model_.waker_processes[wait.process] + "]");
      case WokenBy::kInterrupt:
        return add(blocked, "[woken by an interrupt]");
      case WokenBy::kOngoing:
        return add(blocked, "[not woken yet]");
      case WokenBy::kUnknown:
      case WokenBy::kCount:
        return add(blocked, "[woken by nobody knows whom]");
    }
    StackIndex at = add(blocked, "[woken by]");
    // A node comes after its parent, so this ends.
    for (uint32_t node = wait.waker_stack.value; node != 0; node = model_.stacks[node].parent.value) {
      const StackNode frame = model_.stacks[node];
      at = builder_.with_frame(at, frame);
    }
    return wait.has_waker ? add(at, "[thread " + model_.threads[wait.waker.value].name + "]") : at;
  }
  StackIndex add(StackIndex stack, const std::string& marker) {
    return builder_.with_frame(stack, {.parent = {}, .method = builder_.marker(marker), .type = FrameType::kMarker});
  }

  Model& model_;
  StackBuilder builder_;
  std::map<std::tuple<StackIndex, StackIndex, WokenBy, uint32_t, bool>, StackIndex> known_;
};

}  // namespace

void put_wakers_on_top(Model& model) {
  if (model.profile != Profile::kWaits) return;
  WakerStacks stacks(model);
  const Samples before = std::exchange(model.samples, {});
  size_t index = 0;
  for (Sample sample : before) {
    const WaitInfo wait = index < model.waits.size() ? model.waits[index] : WaitInfo();
    sample.stack = stacks.with_waker(sample.stack, wait);
    model.samples.push_back(sample);
    ++index;
  }
}

}  // namespace tarsier::analysis
