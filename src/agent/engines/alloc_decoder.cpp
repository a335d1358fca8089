#include "agent/engines/alloc_decoder.h"

namespace tarsier::agent {

void AllocDecoder::start_over_if_forgotten() {
  if (generation_ == context_.writer.generation()) return;
  generation_ = context_.writer.generation();
  stacks_.start_over();
  thread_ids_.clear();
  classes_.clear();
}

void AllocDecoder::decode(const AllocRecord& record) {
  start_over_if_forgotten();
  const JvmtiStack stack{record.frames(), record.error, record.truncated};
  const std::string failure = stack.failure();
  const recording::Value values[] = {
      thread_of(record.thread),          stacks_.of(stack),
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

}  // namespace tarsier::agent
