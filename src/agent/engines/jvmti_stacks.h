// Stacks as JVMTI tells them, as stacks of the recording: named once each. Session thread.
#pragma once

#include <jvmti.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "agent/engines/engine.h"
#include "agent/engines/known_stacks.h"

namespace tarsier::agent {

struct JvmtiStack {
  std::span<const jvmtiFrameInfo> frames;  // none: no Java code is on the stack, or an error
  int32_t error = JVMTI_ERROR_NONE;
  bool truncated = false;  // there are more frames

  // Why there is no stack; empty if nothing went wrong.
  [[nodiscard]] std::string failure() const;
};

class JvmtiStacks {
 public:
  explicit JvmtiStacks(EngineContext& context) : context_(context) {}

  recording::StackId of(const JvmtiStack& stack);
  // The writer has forgotten its ids.
  void start_over() { known_.clear(); }

 private:
  EngineContext& context_;
  KnownStacks known_;
  std::vector<recording::Frame> frames_;
};

}  // namespace tarsier::agent
