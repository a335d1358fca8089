// The samples of a recording, 16 bytes each: 500 MB of samples must fit into less memory than the file has.
// Reads like a vector of Sample, but hands out values: `for (const Sample& s : model.samples)`.
//
//   time    4 bytes: ns since the base of the sample's span; a new span begins where that does not fit (2.1 s)
//   weight  4 bytes: ns; longer ones (4.3 s and more) are kept beside
//   stack   4 bytes
//   thread 29 bits, then the three flags
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <unordered_map>
#include <vector>

#include "base/units.h"

namespace tarsier::analysis {

using StackIndex = Id<struct ModelStackTag>;  // a node of the stack tree: a frame and its caller; 0: the root, no frame
using ThreadIndex = Id<struct ModelThreadTag>;

constexpr uint32_t kMaxThreads = 1U << 29;

struct Sample {
  int64_t time_ns = 0;  // since the epoch
  ThreadIndex thread{};
  StackIndex stack{};  // failed ones: the marker node [failed: cause]
  int64_t weight = 0;
  bool imprecise = false;
  bool failed = false;
  bool truncated = false;
  uint32_t count = 1;  // it stands for so many: of contentions, which are added up, also none that begins then
};

class Samples {
 public:
  class iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Sample;
    using difference_type = std::ptrdiff_t;
    using pointer = const Sample*;
    using reference = Sample;

    Sample operator*() const { return samples_->decode(index_, span_); }
    iterator& operator++() {
      ++index_;
      if (span_ + 1 < samples_->spans_.size() && samples_->spans_[span_ + 1].first == index_) ++span_;
      return *this;
    }
    iterator operator++(int) {
      iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const iterator& other) const { return index_ == other.index_; }

   private:
    friend class Samples;
    iterator(const Samples* samples, size_t index) : samples_(samples), index_(index) {}
    const Samples* samples_;
    size_t index_;
    size_t span_ = 0;
  };
  using value_type = Sample;

  Samples() = default;
  Samples(std::initializer_list<Sample> samples) {
    for (const Sample& sample : samples) push_back(sample);
  }

  [[nodiscard]] size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] uint64_t events() const { return events_; }  // for how many all of them stand
  [[nodiscard]] iterator begin() const { return {this, 0}; }
  [[nodiscard]] iterator end() const { return {this, size_}; }
  [[nodiscard]] Sample operator[](size_t index) const { return decode(index, span_of(index)); }

  void push_back(const Sample& sample);
  void set_weight(size_t index, int64_t weight);

 private:
  struct Packed {
    int32_t time;
    uint32_t weight;
    uint32_t stack;
    uint32_t thread_and_flags;
  };
  struct Span {
    size_t first;  // index of its first sample
    int64_t base;  // its time
  };
  static constexpr size_t kBlock = 1 << 16;  // blocks never move: growing needs no second copy
  static constexpr uint32_t kLongWeight = UINT32_MAX;

  [[nodiscard]] Sample decode(size_t index, size_t span) const {
    const Packed& packed = blocks_[index / kBlock][index % kBlock];
    return {.time_ns = spans_[span].base + packed.time,
            .thread = ThreadIndex(packed.thread_and_flags >> 3),
            .stack = StackIndex(packed.stack),
            .weight = packed.weight == kLongWeight ? long_weights_.at(index) : packed.weight,
            .imprecise = (packed.thread_and_flags & 1) != 0,
            .failed = (packed.thread_and_flags & 2) != 0,
            .truncated = (packed.thread_and_flags & 4) != 0,
            .count = counts_.empty() ? 1 : counts_[index]};
  }
  [[nodiscard]] size_t span_of(size_t index) const;

  std::vector<std::vector<Packed>> blocks_;
  std::vector<Span> spans_;
  std::unordered_map<size_t, int64_t> long_weights_;
  std::vector<uint32_t> counts_;  // empty: each stands for one
  size_t size_ = 0;
  uint64_t events_ = 0;
};

}  // namespace tarsier::analysis
