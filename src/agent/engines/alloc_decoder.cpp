#include "agent/engines/alloc_decoder.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>

namespace tarsier::agent {
namespace {

using recording::FrameType;

// The record's own bci of native methods is -1.
FrameType type_of(const jvmtiFrameInfo& frame) {
  return frame.location < 0 ? FrameType::kNative : FrameType::kJava;
}

std::string failure_of(const AllocRecord& record) {
  return record.error == JVMTI_ERROR_NONE ? std::string() : "JVMTI error " + std::to_string(record.error);
}

}  // namespace

void AllocDecoder::start_over_if_forgotten() {
  if (generation_ == context_.writer.generation()) return;
  generation_ = context_.writer.generation();
  stacks_.clear();
  thread_ids_.clear();
  classes_.clear();
}

void AllocDecoder::decode(const AllocRecord& record) {
  start_over_if_forgotten();
  const std::string failure = failure_of(record);
  const recording::Value values[] = {
      thread_of(record.thread),          stack_of(record),
      class_of(record.signature()),      static_cast<int64_t>(record.weight),
      static_cast<int64_t>(record.size), failure.empty() ? std::string_view() : std::string_view(failure),
  };
  context_.writer.event(recording::Event::kObjectAllocationSample, Nanos(static_cast<int64_t>(record.time_ns)), values);
  if (record.thread != 0) context_.threads.mark_seen(record.thread);
  ++counts_.written;
  counts_.failed += failure.empty() ? 0 : 1;
  counts_.bytes += record.weight;
}

recording::ThreadId AllocDecoder::thread_of(uint32_t serial) {
  const auto it = thread_ids_.find(serial);
  if (it != thread_ids_.end()) return it->second;
  const auto thread = context_.threads.find(serial);
  if (!thread) return {};
  return thread_ids_.emplace(serial, context_.writer.thread(thread->info())).first->second;
}

recording::ClassId AllocDecoder::class_of(std::string_view signature) {
  signature_ = class_name_of(signature);
  const auto it = classes_.find(signature_);
  if (it != classes_.end()) return it->second;
  return classes_.emplace(signature_, context_.writer.klass(signature_)).first->second;
}

recording::StackId AllocDecoder::stack_of(const AllocRecord& record) {
  const XXH64_hash_t seed = static_cast<uint64_t>(record.error) * 2 + (record.truncated ? 1 : 0);
  const XXH128_hash_t hash = XXH3_128bits_withSeed(record.frames().data(), record.frames().size_bytes(), seed);
  const StackKey key{hash.low64, hash.high64};
  recording::StackId& id = stacks_[key];
  if (id.value != 0) return id;

  frames_.clear();
  if (record.frames().empty()) {
    const std::string failure = failure_of(record);
    const std::string marker = failure.empty() ? "[no Java frame]" : "[failed: " + failure + "]";
    frames_.push_back({context_.methods.marker(marker), 0, 0, FrameType::kMarker});
  }
  for (const jvmtiFrameInfo& frame : record.frames()) {
    const MethodNames::Method& method = context_.methods.resolve(frame.method);
    const auto bci = static_cast<int32_t>(frame.location);
    frames_.push_back({method.id, method.line(bci), std::max(bci, 0), type_of(frame)});
  }
  return id = context_.writer.stack(frames_, record.truncated);
}

}  // namespace tarsier::agent
