#include "agent/engines/jvmti_samples.h"

#include <cstring>

namespace tarsier::agent {

void JvmtiSamples::take(const capture::SampleHeader& header, const JvmtiStack& stack) noexcept {
  taken_.fetch_add(1, std::memory_order_relaxed);
  JvmtiRecord record{header, stack.error, static_cast<uint32_t>(stack.frames.size()), stack.truncated};
  uint8_t* out = ring_.reserve(sizeof(record) + stack.frames.size_bytes());
  if (out == nullptr) {
    ring_full_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  std::memcpy(out, &record, sizeof(record));
  std::memcpy(out + sizeof(record), stack.frames.data(), stack.frames.size_bytes());
  ring_.commit(out);
}

void JvmtiDecoder::decode(const JvmtiRecord& record) {
  if (events_.start_over_if_forgotten()) stacks_.start_over();
  const JvmtiStack stack = record.stack();
  const std::string failure = stack.failure();
  events_.write(record, {stacks_.of(stack), false, failure, 0, {}});
  if (!stack.frames.empty()) events_.add_self(stack.frames.front().method, record.weight_ns);
}

std::pair<std::string, double> JvmtiDecoder::hottest() {
  const auto [method, share] = events_.hottest();
  if (method == nullptr) return {};
  return {context_.methods.resolve(static_cast<jmethodID>(const_cast<void*>(method))).name, share};
}

}  // namespace tarsier::agent
