// From sampled objects to events of the recording: names of methods and classes. Session thread.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "agent/engines/alloc_capture.h"
#include "agent/engines/engine.h"
#include "agent/engines/jvmti_stacks.h"

namespace tarsier::agent {

class AllocDecoder {
 public:
  explicit AllocDecoder(EngineContext& context) : context_(context), stacks_(context) {}

  void decode(const AllocRecord& record);

  struct Counts {
    uint64_t written = 0, failed = 0;
    uint64_t bytes = 0;  // sum of the weights
  };
  [[nodiscard]] const Counts& counts() const { return counts_; }

 private:
  void start_over_if_forgotten();
  recording::ThreadId thread_of(uint32_t serial);
  recording::ClassId class_of(std::string_view signature);

  EngineContext& context_;
  uint64_t generation_ = ~uint64_t{0};  // of the writer's ids below
  JvmtiStacks stacks_;
  std::unordered_map<uint32_t, recording::ThreadId> thread_ids_;
  std::unordered_map<std::string, recording::ClassId> classes_;
  std::string signature_;
  Counts counts_;
};

}  // namespace tarsier::agent
