#include "analysis/samples.h"

#include <algorithm>

namespace tarsier::analysis {

size_t Samples::span_of(size_t index) const {
  const auto after = std::upper_bound(spans_.begin(), spans_.end(), index,
                                      [](size_t wanted, const Span& span) { return wanted < span.first; });
  return static_cast<size_t>(after - spans_.begin()) - 1;
}

void Samples::push_back(const Sample& sample) {
  int64_t offset = 0;
  if (spans_.empty() || __builtin_sub_overflow(sample.time_ns, spans_.back().base, &offset) || offset > INT32_MAX ||
      offset < INT32_MIN) {
    spans_.push_back({size_, sample.time_ns});
    offset = 0;
  }
  if (size_ % kBlock == 0) blocks_.emplace_back().reserve(kBlock);
  const uint32_t flags = (sample.imprecise ? 1U : 0U) | (sample.failed ? 2U : 0U) | (sample.truncated ? 4U : 0U);
  blocks_.back().push_back({static_cast<int32_t>(offset), 0, sample.stack.value, sample.thread.value << 3 | flags});
  ++size_;
  events_ += sample.count;
  if (sample.count != 1 && counts_.empty()) counts_.resize(size_ - 1, 1);
  if (sample.count != 1 || !counts_.empty()) counts_.push_back(sample.count);
  set_weight(size_ - 1, sample.weight);
}

void Samples::set_weight(size_t index, int64_t weight) {
  Packed& packed = blocks_[index / kBlock][index % kBlock];
  if (weight >= 0 && weight < kLongWeight) {
    packed.weight = static_cast<uint32_t>(weight);
  } else {
    packed.weight = kLongWeight;
    long_weights_[index] = weight;
  }
}

}  // namespace tarsier::analysis
