#include "agent/engines/jvmti_stacks.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>

namespace tarsier::agent {
namespace {

using recording::FrameType;

// The location in native methods is -1.
FrameType type_of(const jvmtiFrameInfo& frame) {
  return frame.location < 0 ? FrameType::kNative : FrameType::kJava;
}

}  // namespace

std::string JvmtiStack::failure() const {
  if (error == JVMTI_ERROR_NONE) return {};
  return error == JVMTI_ERROR_THREAD_NOT_ALIVE ? "thread_ended" : "JVMTI error " + std::to_string(error);
}

recording::StackId JvmtiStacks::of(const JvmtiStack& stack) {
  const XXH64_hash_t seed = static_cast<uint64_t>(stack.error) * 2 + (stack.truncated ? 1 : 0);
  const XXH128_hash_t hash = XXH3_128bits_withSeed(stack.frames.data(), stack.frames.size_bytes(), seed);
  const StackKey key{hash.low64, hash.high64};
  recording::StackId& id = known_[key];
  if (id.value != 0) return id;

  frames_.clear();
  if (stack.frames.empty()) {
    const std::string failure = stack.failure();
    const std::string marker = failure.empty() ? "[no Java frame]" : "[failed: " + failure + "]";
    frames_.push_back({context_.methods.marker(marker), 0, 0, FrameType::kMarker});
  }
  for (const jvmtiFrameInfo& frame : stack.frames) {
    const MethodNames::Method& method = context_.methods.resolve(frame.method);
    const auto bci = static_cast<int32_t>(frame.location);
    frames_.push_back({method.id, method.line(bci), std::max(bci, 0), type_of(frame)});
  }
  return id = context_.writer.stack(frames_, stack.truncated);
}

}  // namespace tarsier::agent
